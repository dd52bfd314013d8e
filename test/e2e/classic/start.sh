# Runs the steps under a deadline, and publishes what came of them.
mkdir -p /var/log/azure/aks
touch /var/log/azure/aks/provision.started
echo startcustomscript >>/opt/m
begin=$(date)
seconds=$(date +%s)
log=/var/log/azure/cluster-provision.log
timeout -k5s 900s /bin/bash -x /opt/azure/containers/provision.sh >>$log 2>&1
code=$?
started() { systemctl show "$1" -p ExecMainStartTimestamp --value; }
printf '{"ExitCode":"%s","Output":"%s","Error":"","ExecDuration":"%s","KernelStartTime":"%s","CloudInitLocalStartTime":"%s","CloudInitStartTime":"%s","CloudFinalStartTime":"%s","NetworkdStartTime":"%s","CSEStartTime":"%s","SystemdSummary":"%s","BootDatapoints":{"KernelStartTime":"%s","CSEStartTime":"%s","KubeletStartTime":"%s"}}\n' \
	"$code" "$(tail -c 3000 $log | base64 -w0)" "$(($(date +%s) - seconds))" "$(systemctl show -p KernelTimestamp --value)" \
	"$(started cloud-init-local.service)" "$(started cloud-init.service)" "$(started cloud-final.service)" \
	"$(started systemd-networkd.service)" "$begin" "$(systemd-analyze 2>&1 | head -1)" \
	"$(systemctl show -p KernelTimestamp --value)" "$begin" "$(started kubelet.service)" >/var/log/azure/aks/provision.json
touch /opt/azure/containers/provision.complete
echo endcustomscript >>/opt/m
exit $code
