# Sourced: hosts that are network namespaces, joined by a switch. Needs root, iproute2 and util-linux.
# shellcheck shell=bash
#
#   hosts_up RATE NAME...    makes hosts; RATE limits each host's link in both directions: 1gbit, 100mbit, or none
#   on_host NAME COMMAND...  runs a command there, with a host name and a table of hosts of its own
#   set_link NAME up|down    connects or disconnects a host
#   on_start NAME COMMAND    a shell command that precedes every other there, from now on
#   hosts_down               ends what still runs there and removes the hosts
#
# $agent is the program with which launchers start processes there, in place of ssh.
hosts_prefix=heed$$
hosts_files=$(mktemp -d)
agent=$hosts_files/agent

hosts_up() {
  local rate=$1 host number=1
  shift
  hosts=("$@")
  mkdir -p "$hosts_files"
  ip netns add "$hosts_prefix-switch"
  ip -n "$hosts_prefix-switch" link add bridge type bridge
  ip -n "$hosts_prefix-switch" link set bridge up
  echo "127.0.0.1 localhost" >"$hosts_files/hosts"
  for host; do
    local namespace=$hosts_prefix-$host
    ip netns add "$namespace"
    ip -n "$hosts_prefix-switch" link add "to-$host" type veth peer name eth0 netns "$namespace"
    ip -n "$hosts_prefix-switch" link set "to-$host" master bridge up
    ip -n "$namespace" address add "10.77.0.$number/24" dev eth0
    ip -n "$namespace" link set eth0 up
    ip -n "$namespace" link set lo up
    if [[ $rate != none ]]; then
      tc -n "$namespace" qdisc add dev eth0 root tbf rate "$rate" burst 256kb latency 50ms
      tc -n "$hosts_prefix-switch" qdisc add dev "to-$host" root tbf rate "$rate" burst 256kb latency 50ms
    fi
    echo "10.77.0.$number $host" >>"$hosts_files/hosts"
    number=$((number + 1))
  done
  cat >"$agent" <<END
#!/bin/sh
# As ssh: agent [-OPTION...] HOST COMMAND, which a shell reads.
while [ "\${1#-}" != "\$1" ]; do shift; done
namespace=$hosts_prefix-\$1 host=\$1
shift
[ -e "/run/netns/\$namespace" ] || { echo "agent: host \$host is not known" >&2; exit 255; }
ip netns exec "\$namespace" unshare --uts sh -c 'mount --bind $hosts_files/hosts /etc/hosts; hostname "\$0"; if [ -e $hosts_files/start-\$0 ]; then . $hosts_files/start-\$0; fi; eval "\$1"' \\
  "\$host" "\$*"
END
  chmod +x "$agent"
}

on_host() {
  local host=$1
  shift
  "$agent" "$host" "$(printf '%q ' "$@")"
}

on_start() { echo "$2" >"$hosts_files/start-$1"; }

set_link() { ip -n "$hosts_prefix-$1" link set eth0 "$2"; }

# processes_on HOST: the ids of the processes there.
processes_on() { ip netns pids "$hosts_prefix-$1"; }

hosts_down() {
  local host pid
  [[ -e $hosts_files ]] || return 0
  for host in "${hosts[@]}"; do
    for pid in $(processes_on "$host"); do kill -KILL "$pid" 2>/dev/null || true; done
  done
  for host in "${hosts[@]}" switch; do ip netns delete "$hosts_prefix-$host" || true; done
  rm -r "$hosts_files"
}
