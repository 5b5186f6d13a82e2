#!/usr/bin/env python3
"""Builds every test once and runs all of them; with --check the unit tests, the structure's and SQLite's suite alone. Targets of the Makefile that are named (lint docs) are made beside, at the lowest priority.
Suites that wait most of the time run a few side by side: those of the stores, of servers, of failures and of other hosts. Each prints its output whole when it has ended. All other tests run one after the other, because some of them measure time."""
import concurrent.futures, json, os, signal, subprocess, sys, time

SIDE_BY_SIDE = 3
# A test that hangs fails by its suite's name, long before everything's time is up. The longest suite takes half of it.
LIMIT_S = 1500
RUNNING = {}
LONG = ' servers'
ASIDE = (LONG, ' failures', ' hosts', ' fuzz')
# The longest of all in two parts, so that it does not run on alone; one of them starts several servers a test.
PARTS = [['cluster::', '--test-threads=1'], ['--skip', 'cluster::']]
CARGO = os.environ.get('CARGO', 'cargo')

def built():
    """Executables of tests, each with the folder of its crate and its arguments."""
    build = subprocess.Popen([CARGO, 'test', '--locked', '--workspace', '--no-run', '--message-format=json-render-diagnostics'], stdout=subprocess.PIPE, text=True)
    messages = [json.loads(line) for line in build.stdout if line.startswith('{')]
    if build.wait(): sys.exit(build.returncode)
    tests = [m for m in messages if m.get('profile', {}).get('test') and m.get('executable')]
    if '--check' in sys.argv: tests = [m for m in tests if is_quick(m)]
    found = [(m['executable'], os.path.dirname(m['manifest_path']), []) for m in tests]
    return [(*test[:2], part) for test in found for part in (PARTS if name(test).endswith(LONG) else [[]])]

def is_quick(message):
    target = message['target']
    return 'test' not in target['kind'] or target['name'] == 'structure' or target['name'].startswith('sqlite')

def name(test):
    return ' '.join([os.path.relpath(test[1]), os.path.basename(test[0]).rsplit("-", 1)[0], *test[2]])

def run(test, output=None):
    """Whether a test ended well; its lines go to `output`, or at once to where ours go."""
    start = time.monotonic()
    print(f'     Running {name(test)}', file=output, flush=True)
    # A group of its own, so that what a hanging test started ends with it. Not a session: a terminal that a test opens would become its own.
    running = subprocess.Popen([test[0], *test[2]], cwd=test[1], stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, process_group=0)
    RUNNING[running.pid] = name(test)
    try: code = running.wait(LIMIT_S)
    except subprocess.TimeoutExpired:
        os.killpg(running.pid, signal.SIGKILL)
        code = f'hung for {LIMIT_S} s and was killed'
    del RUNNING[running.pid]
    print(f'     {name(test)}: {time.monotonic() - start:.0f} s{f" FAILED ({code})" if code else ""}', file=output, flush=True)
    return not code

def makes(target):
    """Whether a target of the Makefile is made; its output goes to a file, and is shown when it has ended."""
    path = f'target/{target}.log'
    with open(path, 'w+', encoding='utf8', errors='replace') as output:
        running = subprocess.Popen(['nice', '-n', '19', 'make', target], stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, process_group=0)
        RUNNING[running.pid] = target
        code = running.wait()
        del RUNNING[running.pid]
        output.seek(0)
        print(output.read(), flush=True)
    return not code

def make_all(targets):
    return [target for target in targets if not makes(target)]

def stop(number, _):
    for pid, suite in RUNNING.items():
        print(f'error: stopped while {suite} ran', flush=True)
        os.killpg(pid, signal.SIGKILL)
    os._exit(128 + number)

def aside(test):
    path = f'target/{name(test).replace("/", "-").replace(" ", "-").replace(":", "")}.log'
    with open(path, 'w+', encoding='utf8', errors='replace') as output:
        ended_well = run(test, output)
        output.seek(0)
        return ended_well, output.read()

def main():
    for number in (signal.SIGINT, signal.SIGTERM): signal.signal(number, stop)
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
    tests, failed = built(), []
    suites = [test for test in tests if name(test).startswith('stores') or any(one in name(test) for one in ASIDE)]
    with concurrent.futures.ThreadPoolExecutor(1) as beside, concurrent.futures.ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        made = beside.submit(make_all, [word for word in sys.argv[1:] if not word.startswith('-')])
        # What takes longest begins first.
        suites.sort(key=lambda test: (LONG not in name(test), ' failures' not in name(test), 'conformance' not in test[0]))
        for test, (ended_well, output) in zip(suites, pool.map(aside, suites)):
            print(output, flush=True)
            if not ended_well: failed.append(name(test))
        failed += [f'make {target}' for target in made.result()]
    failed += [name(test) for test in tests if test not in suites and not run(test)]
    if '--check' not in sys.argv and subprocess.run([CARGO, 'test', '--locked', '--workspace', '--doc', '--no-fail-fast']).returncode: failed.append('tests in the documentation')
    for one in failed: print(f'error: {one} failed', flush=True)
    sys.exit(bool(failed))

main()
