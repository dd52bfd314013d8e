package record

import "testing"

// fuzz gives a kind's parser any bytes. Nothing panics, and every text of the records is one printable line without a secret.
func fuzz(f *testing.F, kind string) {
	for _, d := range samples(f)[kind] {
		f.Add(d.Data)
		f.Add(append(d.Data[:len(d.Data)/2:len(d.Data)/2], "\x00\xff\n{[\"abcdef.0123456789abcdef\x1b[2J<script>"...))
	}
	for i := range Kinds {
		if k := &Kinds[i]; k.Name == kind {
			f.Fuzz(func(t *testing.T, data []byte) {
				r := &Records{Host: "node"}
				var entries []entry
				k.parse(&sink{Records: r, document: k.Name, entries: &entries}, data)
				r.readEntries(entries, "")
				check(t, r)
			})
			return
		}
	}
	f.Fatalf("no kind %s", kind)
}

func FuzzUnits(f *testing.F)              { fuzz(f, "units") }
func FuzzSystemctl(f *testing.F)          { fuzz(f, "systemctl") }
func FuzzJournal(f *testing.F)            { fuzz(f, "journal") }
func FuzzJournalExport(f *testing.F)      { fuzz(f, "journal-export") }
func FuzzCloudInit(f *testing.F)          { fuzz(f, "cloud-init") }
func FuzzCloudInitOutput(f *testing.F)    { fuzz(f, "cloud-init-output") }
func FuzzCloudInitStatus(f *testing.F)    { fuzz(f, "cloud-init-status") }
func FuzzGuestAgent(f *testing.F)         { fuzz(f, "guest-agent") }
func FuzzCustomScript(f *testing.F)       { fuzz(f, "custom-script") }
func FuzzCustomScriptOutput(f *testing.F) { fuzz(f, "custom-script-output") }
func FuzzAzureEvent(f *testing.F)         { fuzz(f, "azure-event") }
func FuzzProvision(f *testing.F)          { fuzz(f, "provision") }
func FuzzSlipway(f *testing.F)            { fuzz(f, "slipway") }
func FuzzKernel(f *testing.F)             { fuzz(f, "kernel") }
func FuzzSyslog(f *testing.F)             { fuzz(f, "syslog") }
func FuzzListing(f *testing.F)            { fuzz(f, "listing") }
func FuzzResource(f *testing.F)           { fuzz(f, "resource") }
func FuzzCluster(f *testing.F)            { fuzz(f, "cluster") }
