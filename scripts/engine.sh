# Functions of scripts/flink and scripts/spark, which run an engine with Beam's job server on this machine. The script that reads this file sets engine
# (its own name), title (the name of the engine), pom, size (of the download), dir (of logs and process ids), and the functions options and up.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/graphmill
wait_seconds=120

fail() { echo "scripts/$engine: $1" >&2; exit "${2:-1}"; }

usage() { sed -n '2,/^set /{/^#/s/^# \{0,1\}//p;}' "$0"; }

number() { [[ $2 =~ ^[1-9][0-9]{0,4}$ ]] || fail "found $1 '$2', expected a number from 1" 2; }

# born PID prints when a process began, so that a process that got the same id later is told from it.
born() {
  if [ -r "/proc/$1/stat" ]; then
    sed 's/.*) //' "/proc/$1/stat" | cut -d' ' -f20
  else
    ps -o lstart= -p "$1" 2>/dev/null | tr -s ' ' _
  fi
}

alive() { local now; now=$(born "$1" 2>/dev/null) && [ -n "$now" ] && [ "$now" = "$2" ]; }

taken() { (exec 3<>"/dev/tcp/localhost/$1") 2>/dev/null; }

free_port() {
  local port
  for _ in $(seq 100); do
    port=$((20000 + RANDOM % 10000))
    taken "$port" || { echo "$port"; return; }
  done
  fail "found no free port from 20000 to 30000"
}

need_free() {
  ! taken "$2" || fail "found port $2 in use, expected it free for the $1; end its program, or give another port by $3"
}

# start NAME PORT COMMAND... starts a process and records it. It lives on when this script ends.
start() {
  local name=$1 port=$2
  shift 2
  (cd "$dir" && exec nohup "$@") >"$dir/$name.log" 2>&1 </dev/null &
  local pid=$!
  # The process is a shell until it has become the command; its beginning stays the same.
  echo "$name $pid $(born "$pid") $port" >>"$dir/processes"
  disown
}

# await NAME WHAT COMMAND... waits until COMMAND holds. The end of the process NAME, or of the time, is a failure.
await() {
  local name=$1 what=$2 pid was
  shift 2
  read -r pid was < <(awk -v n="$name" '$1 == n { print $2, $3 }' "$dir/processes")
  local end=$((SECONDS + wait_seconds))
  until "$@" >/dev/null 2>&1; do
    if ! alive "$pid" "$was"; then
      tell "$name" "found that it ended, expected it $what"
    elif [ "$SECONDS" -ge "$end" ]; then
      tell "$name" "found it silent for $wait_seconds s, expected it $what"
    fi
    sleep 0.2
  done
}

tell() {
  echo "scripts/$engine: $1: $2; the end of $dir/$1.log:" >&2
  tail -n 20 "$dir/$1.log" | cut -c1-400 >&2
  down_quiet
  exit 1
}

# running prints the recorded processes that still run. It fails if there are none.
running() {
  local found=1 name pid was port
  while read -r name pid was port; do
    if alive "$pid" "$was"; then
      echo "$name $pid $was $port"
      found=0
    fi
  done <"$dir/processes"
  return $found
}

down_quiet() {
  [ -s "$dir/processes" ] || return 0
  local pid was signal end
  for signal in TERM KILL; do
    while read -r _ pid was _; do
      ! alive "$pid" "$was" || kill "-$signal" "$pid" 2>/dev/null || true
    done <"$dir/processes"
    end=$((SECONDS + 10))
    while [ "$SECONDS" -lt "$end" ] && running >/dev/null; do sleep 0.1; done
  done
  ! running >&2 || fail "could not end the processes above"
  rm -rf "$dir/processes" "$dir/tmp" "$dir/artifacts"
}

status() {
  if [ ! -s "$dir/processes" ] || ! running >/dev/null; then
    echo "nothing runs in $dir"
    return
  fi
  printf '%-14s %8s %6s %8s\n' process pid port 'RSS MiB'
  local name pid port
  running | while read -r name pid _ port; do
    printf '%-14s %8s %6s %8s\n' "$name" "$pid" "$port" "$(($(ps -o rss= -p "$pid") / 1024))"
  done
}

# class_path sets jars: the class path, from copies in the cache folder, and jars_folder. Their folder is named gradle/wrapper, because
# Beam's job server sends every jar of its own class path to the engine with each job, except those whose path has that in it.
# The engine has the jars already, and Flink keeps what the JVM compiled of them from job to job.
class_path() {
  local expected="expected Java 17; install it: apt-get install openjdk-17-jre-headless"
  command -v java >/dev/null || fail "found no java, $expected"
  java -version 2>&1 | grep -q 'version "17\.' || fail "found $(java -version 2>&1 | head -n 1), $expected"
  local at made list=()
  at=$cache/$engine-$(cat "$pom" "$root/scripts/loopback.py" | cksum | tr -d ' ')
  if [ ! -s "$at/jars" ]; then
    command -v python3 >/dev/null || fail "found no python3, expected Python 3.9 or later; install it: apt-get install python3"
    command -v mvn >/dev/null || fail "found no mvn, expected Maven 3.6 or later; install it: apt-get install maven"
    mkdir -p "$cache"
    if command -v flock >/dev/null; then # so that several at a time download once; the lock goes with this process
      exec 8>"$at.lock"
      flock 8
    fi
  fi
  if [ ! -s "$at/jars" ]; then
    # A folder of its own gets the name when it is whole: of several at a time, the first counts.
    made=$(mktemp -d "$at.XXXXXX")
    mkdir -p "$made/gradle/wrapper"
    echo "scripts/$engine: getting $title and Beam's job server, $size" >&2
    mvn -q -B -f "$pom" dependency:build-classpath -Dmdep.outputFile="$made/maven" >"$dir/mvn.log" 2>&1 ||
      { tail -n 20 "$dir/mvn.log" >&2; rm -rf "$made"; fail "Maven failed; see $dir/mvn.log"; }
    IFS=: read -ra list < <(cat "$made/maven" && echo)
    cp "${list[@]}" "$made/gradle/wrapper"
    python3 "$root/scripts/loopback.py" "$made"/gradle/wrapper/beam-sdks-java-core-*.jar
    (IFS=:; echo "${list[*]##*/}") >"$made/jars"
    [ -s "$at/jars" ] || rm -rf "$at"
    python3 -c 'import os, sys; os.rename(sys.argv[1], sys.argv[2])' "$made" "$at" 2>/dev/null || rm -rf "$made"
  fi
  exec 8>&-
  IFS=: read -ra list <"$at/jars"
  jars_folder=$at/gradle/wrapper
  jars=$(IFS=:; echo "${list[*]/#/$jars_folder/}")
}

commands() {
  [ $# -gt 0 ] || { usage >&2; exit 2; }
  command=$1
  shift
  options "$@"
  case $command in
    up) up ;;
    down) down_quiet ;;
    status) status ;;
    -h | --help) usage ;;
    *) fail "found '$command', expected up, down or status" 2 ;;
  esac
}
