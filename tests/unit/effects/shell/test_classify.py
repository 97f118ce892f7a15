"""What each kind of command does: tables of traps, labels on real commands, and properties."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refetch.effects.shell import classify

READS = """
cat a.py
cat -n a.py
nl -ba a.py | sed -n '1,40p'
sed -n 10,20p a.py
sed 's/a/b/' a.py
head -n 50 a.py | tail -n 5
tail -20 a.py
less a.py
grep -rn foo src
grep foo a.py | head -3
rg foo src
find . -name '*.py'
find . -name '*.py' | sort
ls
ls -la src
wc -l a.py
diff a.py b.py
sort a.py
sort a.py | uniq -c
cut -d: -f1 a.py
awk '{print $1}' a.py
jq . a.json
stat a.py
du -sh src
git status
git diff
git diff HEAD~1 -- a.py
git log --oneline -5
git show HEAD:a.py
git blame a.py
git branch --list
git -C repo status
git stash list
pip list
pip freeze | grep x
tar tf a.tar
unzip -l a.zip
cd src && cat a.py
timeout 5 cat a.py
cat a.py || true
cat a.py 2>/dev/null
cat a.py 2>&1
(cd src; cat a.py)
cat < a.py
""".strip().splitlines()

WRITES = """
sed -i s/a/b/ a.py
sed -i.bak s/a/b/ a.py
sed -n '1,3w out.txt' a.py
sort -o a.py a.py
sort --output=a.py b.py
find . -name x -delete
tee a.py
cat a.py | tee b.py
echo x > a.py
echo x >> a.py
cat a.py >| b.py
cat a.py &> b.py
cp a.py b.py
mv a.py b.py
rm a.py
rm -rf build
mkdir -p a/b
rmdir a
touch a.py
ln -s a b
chmod +x a.sh
truncate -s 0 a.py
dd if=a of=b
tar xf a.tar
tar cf a.tar src
unzip a.zip
gzip a.txt
patch a.py a.patch
git checkout a.py
git checkout -- a.py
git restore a.py
git apply a.patch
git stash
git reset --hard
git clean -fd
git pull
git merge main
git rebase main
git add a.py
git commit -m x
git checkout -b new
cd src && rm a.py
cat a.py && echo x > b.py
curl -o a.html https://example.com
wget https://example.com/a
""".strip().splitlines()

OPAQUE = """
python a.py
python -c 'print(1)'
node a.js
ruby a.rb
perl -pi -e s/a/b/ a.py
bash a.sh
sh -c "$CMD"
./run.sh
eval "$x"
xargs rm
find . -name x | xargs grep foo
find . -exec rm {} ;
make
make test-all
npm run build
npm install
pip install x
cargo build
docker run x
just build
mise run fmt
tox
black a.py
prettier --write a.js
eslint --fix a.js
gofmt -w .
cat $FILE
cat "$(ls | head -1)"
rm $x
unknown-program --flag
awk '{print > "out"}' a.py
awk 'BEGIN{system("rm a")}'
python - <<'X'
if true; then
echo 'unclosed
for f in *; do rm $f; done
kubectl apply -f a.yaml
gh pr merge 1
sudo python a.py
env X=1 python a.py
sqlite3 a.db 'select 1'
source env.sh && unknown
""".strip().splitlines()

TESTS = """
pytest
pytest -q tests/a.py
python -m pytest
python -m unittest
go test ./...
cargo test
npm test
mypy src
ruff check src
eslint src
tsc --noEmit
pylint a.py
flake8
cd src && pytest -x
pytest 2>&1 | tail -5
./tests/runtests.py a
""".strip().splitlines()

NEUTRAL = """
echo hello
pwd
which python
true
printf x
cd src
python --version
whoami
export A=1
cd src && true
""".strip().splitlines()


@pytest.mark.parametrize("command", READS)
def test_reads(command: str) -> None:
    assert classify(command).effect == "reads"


@pytest.mark.parametrize("command", WRITES)
def test_writes_are_never_harmless(command: str) -> None:
    assert classify(command).kinds & {"writes", "opaque"}


@pytest.mark.parametrize("command", OPAQUE)
def test_unknown_effects_are_opaque(command: str) -> None:
    assert classify(command).kinds & {"opaque", "writes"}


@pytest.mark.parametrize("command", TESTS)
def test_test_runners(command: str) -> None:
    assert classify(command).effect == "tests"


@pytest.mark.parametrize("command", NEUTRAL)
def test_neutral(command: str) -> None:
    assert classify(command).effect == "neutral"


@pytest.mark.parametrize(
    ("command", "resource", "region"),
    [
        ("sed -n 1,40p a.py", "file:a.py", ("line", 1, 40)),
        ("head -n 5 a.py", "file:a.py", ("line", 1, 5)),
        ("head -n 20 a.py | tail -n 5", "file:a.py", ("line", 16, 20)),
        ("tail -n 3 a.py", "file:a.py", ("tail", 3)),
        ("cd src && cat a.py", "file:src/a.py", None),
        ("cat a.py | sed -n '2,3p'", "file:a.py", ("line", 2, 3)),
    ],
)
def test_what_is_read(command: str, resource: str, region: object) -> None:
    (read,) = classify(command).reads
    assert (read.resource, read.view, read.region) == (resource, "content", region)


def test_the_working_directory() -> None:
    assert classify("cat a.py", "/repo").reads[0].resource == "file:/repo/a.py"


@pytest.mark.parametrize("command", ["npm start &", "nohup server", "sleep 5 & cat a"])
def test_background_jobs(command: str) -> None:
    assert classify(command).background


def test_a_sleep_waits() -> None:
    assert classify("sleep 5 && cat a").waits


@given(st.text(max_size=200))
def test_any_text_is_read_without_an_error(text: str) -> None:
    classify(text)


PIECES = st.lists(st.sampled_from([*READS, *TESTS, *NEUTRAL]), min_size=1, max_size=3)


@given(PIECES, st.sampled_from(["rm x", "echo x > f", "sed -i d f", "python x.py"]))
def test_a_write_in_a_list_is_never_lost(pieces: list[str], write: str) -> None:
    command = " && ".join([*pieces, write])
    assert classify(command).kinds & {"writes", "opaque"}


def test_labels_on_real_commands(shared_dir: Path) -> None:
    lines = (shared_dir / "gold" / "commands.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [(row, classify(row["command"])) for row in map(json.loads, lines)]
    right = sum(found.effect == row["effect"] for row, found in rows)
    assert right >= 0.92 * len(rows)
    harmless = [
        row["command"]
        for row, found in rows
        if {"writes", "opaque"} & set(row["effect"].split("+"))
        and not found.kinds & {"writes", "opaque"}
    ]
    assert harmless == []


@pytest.mark.parametrize("option", ["-A", "-nA", "-vet", "-E", "-T", "--show-all", "-s"])
@pytest.mark.parametrize("command", ["cat {} a.py", "sed -n 1,9p a.py | cat {}"])
def test_marks_are_no_plain_text(command: str, option: str) -> None:
    plain = classify(command.format("-n")).reads
    assert {read.view for read in plain} == {"content"}
    assert all(read.view != "content" for read in classify(command.format(option)).reads)


@pytest.mark.parametrize(
    "command",
    [
        "shuf a.txt", "cat a.txt | shuf", "shuf -n 1 a.txt", "sort -R a.txt",
        "sort --random-sort a", "awk '{print rand()}' a", "awk 'BEGIN{print systime()}'",
        "jq '. + now' a.json", "yq eval 'now' a.yaml", "find . -mmin -5", "find . -mtime +1",
        "find . -newermt '1 hour ago'", "tail -f a.txt", "tail -F a.txt | head -5",
        "tail -5 --follow a.txt", "less +F a.txt", "cat /proc/meminfo", "cat <(date)",
        "echo $(date)",
    ],
)  # fmt: skip
def test_what_chance_or_the_clock_decides_is_volatile(command: str) -> None:
    assert "volatile" in classify(command).kinds


@pytest.mark.parametrize(
    "command",
    [
        "sort a.txt", "sort -r a.txt", "shuf --random-source=seed a.txt", "awk '{print $1}' brand",
        "awk '{print brand(1)}' a", "jq '.now' a.json", "jq '.known' a.json", "grep now a.txt",
        "find . -newer a.txt", "find . -name '*.py'", "tail -5 a.txt", "tail -c 5 f",
    ],
)  # fmt: skip
def test_what_only_looks_like_it_is_not(command: str) -> None:
    assert "volatile" not in classify(command).kinds
