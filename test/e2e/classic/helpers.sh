# The helpers that the steps of provision.sh are made with: events, retries, files, units.

events=/var/log/azure/Microsoft.Azure.Extensions.CustomScript/events/

# logs_to_events NAME COMMAND... runs a command and leaves an event about it for the guest agent.
logs_to_events() {
	local task=$1 begin end file code
	shift
	file=$events$(date +%s%3N).json
	begin=$(date '+%F %T.%3N')
	"$@"
	code=$?
	end=$(date '+%F %T.%3N')
	printf '{"Timestamp":"%s","OperationId":"%s","Version":"1.23","TaskName":"%s","EventLevel":"Informational","Message":"Completed: %s","EventPid":"0","EventTid":"0"}\n' \
		"$begin" "$end" "$task" "$*" >"$file"
	return $code
}

# retry TRIES PAUSE TIMEOUT COMMAND... runs a command until it succeeds.
retry() {
	local tries=$1 pause=$2 patience=$3 i
	shift 3
	for ((i = 1; i <= tries; i++)); do
		timeout "$patience" "$@" && return 0
		((i == tries)) || sleep "$pause"
	done
	return 1
}

# write_file MODE PATH writes the base64 on its input to a file of root's.
write_file() {
	mkdir -p "${2%/*}"
	touch "$2"
	chmod "$1" "$2"
	chown root:root "$2"
	base64 -d >"$2"
}

# enable_and_start UNIT starts a unit again, and at every boot from now on.
enable_and_start() {
	retry 100 5 30 systemctl daemon-reload || return 4
	retry 100 5 30 systemctl restart --no-block "$1" || return 4
	retry 120 5 25 systemctl enable "$1" || return 4
}
