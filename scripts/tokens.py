#!/usr/bin/env python3
"""Tokens of the product by part: what there is to read, whatever the width of lines and the length of names.

A token is a word (letters, digits, _) or one sign. A text in quotes counts a token for each word and sign in it. Comments and blanks count nothing.
Counted: Rust (without tests, benches and inline test modules), and every other tracked source of crates/, stores/, studies/, scripts/, python/: SQL and its relatives, TOML, JSON, JavaScript, CSS, HTML, Python, shell, C, build scripts. Not: docs/, data/, tests, vendored files, lock files, Cargo.toml.
--total prints one number; --at COMMIT counts that commit, --since COMMIT shows what each part gained or lost since then.
--budgets prints the table of scripts/budgets.tsv with what each row has, and fails where one has more than it may; --lower sets what each row may have to what it has, where that is less.
"""
import os, re, subprocess, sys
EXT = {'.rs': 'c', '.c': 'c', '.js': 'c', '.css': 'c', '.sql': 'sql', '.cql': 'sql', '.toml': 'hash', '.py': 'hash', '.sh': 'hash', '.json': '', '.html': '', '.j2': '', '.flux': 'c', '.influxql': 'sql', '.tql': 'sql', '.mongodb': 'sql', '.promql': 'hash', '.yml': 'hash', '.yaml': 'hash'}
TEST = ('/tests/', '/benches/', '/fuzz/', '/fixtures/', '/vendor', '/testdata/')
def code(path, text):
    kind = EXT[path[path.rindex('.'):]]
    if path.endswith('.rs'):
        m = re.search(r'\n#\[cfg\(test\)\]\s*\n(?:#\[[^\n]*\]\s*\n)*mod \w+ \{', text)
        text = text[:m.start()] if m else text
    if kind == 'c': text = re.sub(r'^\s*//.*$', '', re.sub(r'/\*.*?\*/', '', text, flags=re.S), flags=re.M)
    if kind == 'sql': text = re.sub(r'^\s*--(?! *(?:layout|statement|macro|family|measured|needs|tags|repeated)).*$', '', text, flags=re.M)
    if kind == 'hash': text = re.sub(r'^\s*#.*$', '', text, flags=re.M)
    return text
def part(f):
    named = [folder for folder in FOLDERS if f == folder or f.startswith(folder + '/')]
    return max(named, key=len) if named else '/'.join(f.split('/')[:2]) if f.startswith(('crates/', 'stores/')) else f.split('/')[0]
def wanted(f):
    name = f.rsplit('/', 1)[-1]
    return f.startswith(('crates/', 'stores/', 'studies/', 'scripts/', 'python/')) and '.' in name and name[name.rindex('.'):] in EXT and not any(t in '/' + f for t in TEST) and not f.endswith(('tests.rs', 'pins.rs', 'Cargo.toml', '.min.js'))
def git(*a): return subprocess.run(['git', *a], capture_output=True).stdout
def texts(commit):
    if not commit:
        for f in filter(wanted, git('ls-files').decode().split('\n')):
            if os.path.isfile(f) and not os.path.islink(f): yield f, open(f, encoding='utf8', errors='replace').read()
        return
    files = [row.split('\t')[1] for row in git('ls-tree', '-r', commit).decode().split('\n') if not row.startswith('120000') and '\t' in row and wanted(row.split('\t')[1])]
    out = subprocess.run(['git', 'cat-file', '--batch'], input='\n'.join(f'{commit}:{f}' for f in files).encode(), capture_output=True).stdout
    at = 0
    for f in files:
        end = out.index(b'\n', at); size = int(out[at:end].split()[-1]); at = end + 1
        yield f, out[at:at + size].decode('utf8', 'replace'); at += size + 1
def count(commit=None):
    parts = {}
    for f, text in texts(commit): parts[part(f)] = parts.get(part(f), 0) + len(re.findall(r'\w+|[^\s\w]', code(f, text)))
    return parts
def option(name): return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else None
def budgets(counts):
    """Rows of the table as [name, most, target, folders, tokens]; a part belongs to the row that names its folder."""
    rows = [[*line.rstrip('\n').split('\t'), 0] for line in open(TABLE, encoding='utf8') if not line.startswith('#')]
    for name, tokens in sorted(counts.items()):
        row = next((row for row in rows if name in row[3].split()), None)
        if row is None: sys.exit(f'{name} is in no row of scripts/budgets.tsv: add its folder to one')
        row[4] += tokens
    return rows
def check(counts):
    rows, wrong = budgets(counts), []
    print(f"{'part':<24}{'tokens':>10}{'may have':>10}{'target':>10}")
    for name, most, target, _, tokens in rows:
        limits = [each if each == '-' else f'{int(each):,}' for each in (most, target)]
        print(f'{name:<24}{tokens:>10,}{limits[0]:>10}{limits[1]:>10}')
        if most == '-': continue
        if tokens > int(most) * MENDS: wrong.append(f'{name} has {tokens:,} tokens and may have {int(most):,}: make it smaller. Only an issue changes a budget.')
        if tokens < int(most) * 0.98 - 200 and int(most) != int(target.replace('-', '-1')): wrong.append(f'{name} has fallen to {tokens:,} tokens: keep that with scripts/tokens.py --lower')
    print(f"{'all':<24}{sum(counts.values()):>10,}")
    sys.exit('\n'.join(wrong) or None)
def lower(counts):
    head = [line for line in open(TABLE, encoding='utf8') if line.startswith('#')]
    rows = [f"{name}\t{most if most == '-' else max(min(int(most), tokens), 0 if target == '-' else min(int(most), int(target)))}\t{target}\t{folders}\n" for name, most, target, folders, tokens in budgets(counts)]
    with open(TABLE + '.new', 'w', encoding='utf8') as file: file.writelines(head + rows)
    os.replace(TABLE + '.new', TABLE)
TABLE = 'scripts/budgets.tsv'
MENDS = 1.005
os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
FOLDERS = [folder for line in open(TABLE, encoding='utf8') if not line.startswith('#') for folder in line.rstrip('\n').split('\t')[3].split()]
now = count(option('--at'))
if '--budgets' in sys.argv: check(now)
if '--lower' in sys.argv: sys.exit(lower(now))
if '--total' in sys.argv: print(sum(now.values()))
elif option('--since'):
    then = count(option('--since'))
    for k in sorted({*now, *then}):
        if now.get(k, 0) != then.get(k, 0): print(f'{now.get(k, 0) - then.get(k, 0):>+9,} {k} ({now.get(k, 0):,})')
    print(f'{sum(now.values()) - sum(then.values()):>+9,} all ({sum(now.values()):,})')
else:
    for k, v in sorted(now.items()): print(f'{v:>9,} {k}')
    print(f"{sum(v for k, v in now.items() if k.startswith('stores/')):>9,} stores, all\n{sum(now.values()):>9,} all")
