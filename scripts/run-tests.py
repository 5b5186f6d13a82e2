#!/usr/bin/env python3
"""Builds every test once and runs all of them; with --check the unit tests, the structure's and SQLite's suite alone. Servers are installed meanwhile where the Makefile's target is named; page is made beside the suites, and then, at the lowest priority, what compiles (lint docs).
Suites run a few side by side, because they wait much of the time; each prints its output whole when it has ended. A test that failed beside others is run again alone, and told if it passes then: a busy machine may have made it late. So is a target. What needs the whole machine runs alone at once. What slow-tests.txt names is left to make verify, which sets SENSORMARK_SLOW."""
import concurrent.futures, json, os, re, signal, subprocess, sys, time

SIDE_BY_SIDE = 3
# A test that hangs fails by its suite's name, long before everything's time is up. The longest suite takes half of it.
LIMIT_S = 2000
RUNNING = {}
LONG = ' servers'
ALONE = (' machine',)
FIRST = (' failures', ' cli', ' hosts')
# Its tests wait most of their time: a run of four seconds takes one of a processor's.
WAITING, THREADS = ' cli', '--test-threads=4'
SLOW = [line.rstrip('\n').split('\t') for line in open(os.path.join(os.path.dirname(__file__), 'slow-tests.txt')) if '\t' in line]
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

def left_out(test):
    """The tests of a suite that take too long for every time."""
    if os.environ.get('SENSORMARK_SLOW'): return []
    return [slow for suite, slow in SLOW if suite in name(test)]

def run(test, output=None):
    """Whether a test ended well; its lines go to `output`, or at once to where ours go."""
    start = time.monotonic()
    print(f'     Running {name(test)}', file=output, flush=True)
    skipped = [word for slow in left_out(test) for word in ('--skip', slow)] + [THREADS] * name(test).endswith(WAITING)
    # A group of its own, so that what a hanging test started ends with it. Not a session: a terminal that a test opens would become its own.
    running = subprocess.Popen([test[0], *test[2], *skipped], cwd=test[1], stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, process_group=0)
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
        priority = [] if target == 'page' else ['nice', '-n', '19']
        running = subprocess.Popen([*priority, 'make', target], stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, process_group=0)
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

def fails_alone(test, output):
    """Whether what failed beside others fails alone, too; so does a suite that named no test."""
    failures = re.findall(r'^failures:\n((?:    .+\n)+)', output, re.M)
    names = [line.strip() for line in failures[-1].splitlines()] if failures else []
    # One by one, because some suites take one name alone.
    if not names or not all([run((*test[:2], ['--exact', one])) for one in names]): return True
    for one in names: print(f'warning: {name(test)}: {one} failed beside others, and passed alone', flush=True)
    return False

def main():
    for number in (signal.SIGINT, signal.SIGTERM): signal.signal(number, stop)
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
    os.makedirs('target', exist_ok=True)
    targets, failed = [word for word in sys.argv[1:] if not word.startswith('-')], []
    with concurrent.futures.ThreadPoolExecutor(1) as beside, concurrent.futures.ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        servers = beside.submit(make_all, [target for target in targets if target == 'servers'])
        tests = built()
        failed += [f'make {target}' for target in servers.result()]
        made = beside.submit(make_all, [target for target in ('page', 'lint', 'docs') if target in targets])
        suites = [test for test in tests if not name(test).endswith(ALONE)]
        # What takes longest begins first, and quick unit tests end it.
        suites.sort(key=lambda test: (LONG not in name(test), not name(test).endswith(FIRST), 'conformance' not in test[0]))
        again = []
        for test, (ended_well, output) in zip(suites, pool.map(aside, suites)):
            print(output, flush=True)
            if not ended_well: again.append((test, output))
        late = made.result()
    failed += [f'make {target}' for target in make_all(late)]
    failed += [name(test) for test, output in again if fails_alone(test, output)]
    failed += [name(test) for test in tests if test not in suites and not run(test)]
    if '--check' not in sys.argv and subprocess.run([CARGO, 'test', '--locked', '--workspace', '--doc', '--no-fail-fast']).returncode: failed.append('tests in the documentation')
    for test in tests:
        for slow in left_out(test): print(f'left to make verify: {name(test)}: {slow}', flush=True)
    for one in failed: print(f'error: {one} failed', flush=True)
    sys.exit(bool(failed))

main()
