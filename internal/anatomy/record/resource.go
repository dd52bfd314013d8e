package record

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io"
	"strings"
)

// maxNested limits how deep an escaped resource is inside other texts, as in an activity log.
const maxNested = 4

// arm has the fields of a virtual machine or a scale set of Azure's that tell how it starts.
type arm struct {
	Name, Type string
	Properties struct {
		armProfile
		VirtualMachineProfile *armProfile
	}
	// Resources are the extensions of a single virtual machine.
	Resources []armExtension
}

type armProfile struct {
	OsProfile struct {
		ComputerName, ComputerNamePrefix, CustomData string
		ImageReference                               armImage
	}
	StorageProfile struct{ ImageReference armImage }
	// UserData is the metadata service's text, in base64.
	UserData         string
	ExtensionProfile struct{ Extensions []armExtension }
}

type armImage struct{ ID, Publisher, Offer, Sku, Version string }

type armExtension struct {
	Name, Type string
	Properties struct {
		Publisher, Type, TypeHandlerVersion string
		Settings                            json.RawMessage
		ProtectedSettings                   json.RawMessage
		ProvisionAfterExtensions            []string
	}
}

func isResource(head []byte) bool {
	return bytes.Contains(head, []byte("virtualMachineProfile")) || bytes.Contains(head, []byte("storageProfile")) || bytes.Contains(head, []byte("Microsoft.Compute/virtualMachine"))
}

// parseResource reads a virtual machine or a scale set, as az prints it and as an activity log has it: a text within JSON, with each
// quotation mark escaped.
func parseResource(s *sink, data []byte) {
	found := 0
	var visit func(data []byte, depth int)
	visit = func(data []byte, depth int) {
		var value any
		if json.Unmarshal(data, &value) != nil {
			unescaped := bytes.ReplaceAll(data, []byte(`\"`), []byte(`"`))
			if json.Unmarshal(unescaped, &value) != nil {
				return
			}
			data = unescaped
		}
		switch value := value.(type) {
		case string:
			if depth < maxNested {
				visit([]byte(value), depth+1)
			}
		case []any:
			for _, item := range value {
				if raw, err := json.Marshal(item); err == nil && depth < maxNested {
					visit(raw, depth+1)
				}
			}
		case map[string]any:
			if isProfile(value) {
				found++
				s.resource(data)
				return
			}
			for _, key := range []string{"properties", "responseBody", "requestbody", "requestBody", "value"} {
				if inner, has := value[key]; has && depth < maxNested {
					if raw, err := json.Marshal(inner); err == nil {
						visit(raw, depth+1)
					}
				}
			}
		}
	}
	visit(bytes.TrimSpace(data), 0)
	if found == 0 {
		s.unread(0, len(data), "no virtual machine or scale set is in it, or the JSON is cut")
	}
}

// isProfile reports whether an object is a machine or a scale set.
func isProfile(object map[string]any) bool {
	properties, _ := object["properties"].(map[string]any)
	_, set := properties["virtualMachineProfile"]
	_, machine := properties["storageProfile"]
	return set || machine
}

func (s *sink) resource(data []byte) {
	var r arm
	if err := json.Unmarshal(data, &r); err != nil {
		s.unread(0, len(data), "a field of the resource has another type: %v", err)
	}
	what, profile := "virtual machine", &r.Properties.armProfile
	if r.Properties.VirtualMachineProfile != nil {
		what, profile = "scale set", r.Properties.VirtualMachineProfile
	}
	s.plan(Firmware, "the %s %s starts from the image %s", what, Clean(r.Name), Clean(profile.image()))
	s.customData("custom data", profile.OsProfile.CustomData, "cloud-init")
	s.customData("user data", profile.UserData, "the metadata service's clients")
	for _, e := range append(profile.ExtensionProfile.Extensions, r.Resources...) {
		s.extension(e)
	}
}

func (p *armProfile) image() string {
	for _, image := range []armImage{p.StorageProfile.ImageReference, p.OsProfile.ImageReference} {
		switch {
		case image.ID != "":
			return image.ID
		case image.Offer != "":
			return strings.Join([]string{image.Publisher, image.Offer, image.Sku, image.Version}, ":")
		}
	}
	return "that it does not name"
}

// customData describes the user data of a resource, and not its content, which may have credentials.
func (s *sink) customData(what, encoded, reader string) {
	if encoded == "" {
		return
	}
	data, err := base64.StdEncoding.DecodeString(strings.TrimSpace(encoded))
	if err != nil {
		s.unread(0, len(encoded), "the %s is not base64, or cut", what)
		return
	}
	if bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		if data, err = gunzip(data); err != nil {
			s.unread(0, len(encoded), "the %s cannot be decompressed: %v", what, err)
			return
		}
	}
	s.plan(CloudInit, "its %s (%d bytes) is %s, which %s reads at the first boot", what, len(data), describe(data), reader)
	for _, path := range writtenPaths(data) {
		s.file(File{Path: path, By: "cloud-init, as the " + what + " asks (write_files)"})
	}
}

func gunzip(data []byte) ([]byte, error) {
	const limit = 8 << 20
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(r, limit))
}

// userDataForms are the forms of user data, by their beginning (cloud-init, "User data formats").
var userDataForms = []struct{ begin, is string }{
	{"#cloud-config", "a cloud-config"},
	{"#cloud-boothook", "a boothook"},
	{"#include", "a list of URLs"},
	{"## template: jinja", "a template"},
	{"#!", "a script"},
	{"Content-Type: multipart", "a MIME message with several parts"},
	{"MIME-Version", "a MIME message with several parts"},
	{"{\"ignition\"", "an Ignition config"},
	{"{", "a JSON document"},
}

func describe(data []byte) string {
	text := bytes.TrimLeft(data, " \r\n\t")
	for _, form := range userDataForms {
		if bytes.HasPrefix(text, []byte(form.begin)) {
			return form.is
		}
	}
	return "of an unknown form"
}

// writtenPaths are the paths in the write_files of a cloud-config.
func writtenPaths(data []byte) []string {
	const limit = 200
	var paths []string
	if !bytes.Contains(data, []byte("write_files:")) {
		return nil
	}
	for line := range bytes.Lines(data) {
		text := strings.TrimPrefix(strings.TrimSpace(string(line[:min(len(line), maxLine)])), "- ")
		if path, ok := strings.CutPrefix(text, "path: "); ok && len(paths) < limit {
			paths = append(paths, Clean(strings.Trim(path, `"'`)))
		}
	}
	return paths
}

// extension describes an extension of a resource. Azure returns no protected settings; their presence alone is shown.
func (s *sink) extension(e armExtension) {
	kind := e.Properties.Publisher + "." + e.Properties.Type
	if e.Properties.Type == "" {
		return
	}
	var settings struct {
		CommandToExecute string
		FileUris         []string
	}
	_ = json.Unmarshal(e.Properties.Settings, &settings) // other extensions have other settings
	does := "the guest agent installs it and enables it"
	switch {
	case settings.CommandToExecute != "":
		does = "the guest agent runs with it: " + settings.CommandToExecute
	case e.Properties.Type == "CustomScript":
		does = "the guest agent runs with it the command of its protected settings, which Azure does not show"
	}
	if len(settings.FileUris) > 0 {
		does += ", after it has downloaded files"
	}
	s.plan(Extension, "its extension %s is %s %s: %s", Clean(e.Name), Clean(kind), Clean(e.Properties.TypeHandlerVersion), Clean(does))
}
