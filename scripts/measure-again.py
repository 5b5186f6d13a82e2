#!/usr/bin/env python3
"""Measures again what was submitted to the collection: measure-again.py RESULTS RUN... runs the command that each run.json names, in the run's folder, and compares both.

The workflow collection.yml calls it. What was measured on a server that runs elsewhere cannot be measured here, and the script says so."""
import glob, json, os, subprocess, sys

results, failed = os.path.abspath(sys.argv[1]), False
for run in sys.argv[2:]:
    command = json.load(open(f'{run}/run.json'))['command_line']
    if '--results' in command:
        at = command.index('--results')
        del command[at:at + 2]
    stores = sorted({json.load(open(trial))['implementation']['store'] for trial in glob.glob(f'{run}/trials/*.json')})
    if command[:1] != ['run'] or any('://' in word or 'hosts' in word for word in command) or not stores:
        sys.exit(f'{run}: {" ".join(command)} cannot be measured here: it needs a server or a host that runs elsewhere, or no trial is in the folder')

    servers = [store for store in stores if store != 'sqlite']
    if servers: subprocess.run(['sensormark', 'install-servers', *servers], check=True)
    own = os.path.join(results, os.path.basename(os.path.abspath(run)))
    code = subprocess.run(['sensormark', *command, '--results', own], cwd=run).returncode
    again = glob.glob(f'{own}/*/')
    print(f'{run}: measured again with exit code {code}', flush=True)
    failed |= code != 0 or not again
    if again:
        subprocess.run(['sensormark', 'compare', run, again[0], '--format', 'markdown'])
sys.exit(failed)
