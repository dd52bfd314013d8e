package fakecloud

import (
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// azureMetadata is IMDS: https://learn.microsoft.com/azure/virtual-machines/instance-metadata-service
func (c *Cloud) azureMetadata(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Header.Get("Metadata") != "true" || r.Header.Get("X-Forwarded-For") != "":
		azureError(w, http.StatusBadRequest, "Bad request. Required metadata header not specified")
	case r.URL.Query().Get("api-version") == "":
		azureError(w, http.StatusBadRequest, "Bad request. api-version was not specified in the request")
	case strings.TrimSuffix(r.URL.Path, "/") == "/metadata/instance":
		writeJSON(w, c.current().azure())
	case r.URL.Path == "/metadata/instance/compute":
		writeJSON(w, c.current().azure()["compute"])
	case r.URL.Path == "/metadata/instance/compute/tagsList":
		writeJSON(w, c.current().tagsList())
	case r.URL.Path == "/metadata/instance/compute/userData" && r.URL.Query().Get("format") == "text":
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, base64.StdEncoding.EncodeToString(c.current().UserData))
	case r.URL.Path == "/metadata/instance/network":
		writeJSON(w, c.current().azure()["network"])
	case strings.HasPrefix(r.URL.Path, "/metadata/instance/") && r.URL.Query().Get("format") == "text":
		text, found := leaf(c.current().azure(), strings.TrimPrefix(r.URL.Path, "/metadata/instance/"))
		if !found {
			azureError(w, http.StatusNotFound, "Resource not found")
			return
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, text)
	case r.URL.Path == "/metadata/identity/oauth2/token":
		c.accessToken(w, r.URL.Query())
	default:
		azureError(w, http.StatusNotFound, "Resource not found")
	}
}

// leaf is the text at a path of a document; the path's parts are names and indexes.
func leaf(document any, path string) (string, bool) {
	for part := range strings.SplitSeq(path, "/") {
		switch inner := document.(type) {
		case map[string]any:
			document = inner[part]
		case []any:
			index, err := strconv.Atoi(part)
			if err != nil || index < 0 || index >= len(inner) {
				return "", false
			}
			document = inner[index]
		default:
			return "", false
		}
	}
	text, found := document.(string)
	return text, found
}

// accessToken returns a token of the machine's identity:
// https://learn.microsoft.com/entra/identity/managed-identities-azure-resources/how-to-use-vm-token
func (c *Cloud) accessToken(w http.ResponseWriter, query url.Values) {
	switch i := c.current(); {
	case i.AccessToken == "" || query.Get("client_id") != i.Identity:
		azureError(w, http.StatusBadRequest, "invalid_request: Identity not found")
	case !slices.Contains(i.Audiences, query.Get("resource")):
		azureError(w, http.StatusBadRequest, "invalid_resource: AADSTS500011: the resource principal was not found in the tenant")
	default:
		writeJSON(w, map[string]any{"access_token": i.AccessToken, "token_type": "Bearer", "resource": query.Get("resource")})
	}
}

func azureError(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, "{\"error\":%q}", text)
}

func writeJSON(w http.ResponseWriter, document any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	// If the connection fails, an error cannot be reported.
	_ = json.NewEncoder(w).Encode(document)
}

// tagsList is an array even without tags.
func (i Instance) tagsList() []Tag { return append([]Tag{}, i.Tags...) }

// azure is the instance document.
func (i Instance) azure() map[string]any {
	subnet := ""
	if prefix, err := netip.ParsePrefix(fmt.Sprintf("%s/%d", i.Address, i.Prefix)); err == nil {
		subnet = prefix.Masked().Addr().String()
	}
	interfaces := []any{}
	for _, own := range append([]Interface{{i.MAC, i.Address}}, i.Secondary...) {
		interfaces = append(interfaces, map[string]any{
			"ipv4": map[string]any{
				"ipAddress": []any{map[string]any{"privateIpAddress": own.Address, "publicIpAddress": ""}},
				"subnet":    []any{map[string]any{"address": subnet, "prefix": fmt.Sprint(i.Prefix)}},
			},
			"ipv6":       map[string]any{"ipAddress": []any{}},
			"macAddress": strings.ToUpper(strings.ReplaceAll(own.MAC, ":", "")),
		})
	}
	return map[string]any{
		"compute": map[string]any{
			"azEnvironment":     "AzurePublicCloud",
			"location":          i.Region,
			"name":              i.Name,
			"osType":            "Linux",
			"osProfile":         map[string]any{"adminUsername": "azureuser", "computerName": i.Name, "disablePasswordAuthentication": "true"},
			"provider":          "Microsoft.Compute",
			"publicKeys":        []any{},
			"resourceGroupName": "MC_e2e",
			"subscriptionId":    "22222222-2222-2222-2222-222222222222",
			"resourceId": "/subscriptions/22222222-2222-2222-2222-222222222222/resourceGroups/MC_e2e/providers/" +
				"Microsoft.Compute/virtualMachines/" + i.Name,
			"tagsList": i.tagsList(),
			"userData": base64.StdEncoding.EncodeToString(i.UserData),
			"vmId":     i.ID,
			"vmSize":   i.Type,
			"zone":     "1",
		},
		"network": map[string]any{"interface": interfaces},
	}
}

// goalState is the wire server's goal for the machine: to run.
const goalState = `<?xml version="1.0" encoding="utf-8"?>
<GoalState xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
  <Version>2012-11-30</Version>
  <Incarnation>1</Incarnation>
  <Machine><ExpectedState>Started</ExpectedState><StopRolesDeadlineHint>300000</StopRolesDeadlineHint></Machine>
  <Container>
    <ContainerId>%s</ContainerId>
    <RoleInstanceList>
      <RoleInstance><InstanceId>%s</InstanceId><State>Started</State></RoleInstance>
    </RoleInstanceList>
  </Container>
</GoalState>
`

const wireVersions = `<?xml version="1.0" encoding="utf-8"?>
<Versions><Preferred><Version>2015-04-05</Version></Preferred><Supported><Version>2012-11-30</Version></Supported></Versions>
`

// wireServer answers the guest agent, and cloud-init, which can replace it.
func (c *Cloud) wireServer(w http.ResponseWriter, r *http.Request) {
	comp := r.URL.Query().Get("comp")
	switch {
	case r.Method == http.MethodGet && strings.EqualFold(comp, "versions"):
		writeXML(w, wireVersions)
	case r.Method == http.MethodGet && strings.EqualFold(comp, "goalstate"):
		i := c.current()
		writeXML(w, fmt.Sprintf(goalState, i.ID, i.Name))
	case r.Method == http.MethodPost && strings.EqualFold(comp, "health"):
		body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		c.report(body)
	case r.URL.Path == "/acms/isOptedInForRootCerts":
		writeJSON(w, map[string]any{"IsOptedInForRootCerts": c.current().OptedIn})
	case r.Method == http.MethodGet && comp == "acmspackage":
		c.authorities(w, r)
	default:
		http.NotFound(w, r)
	}
}

// authorities answers init-aks-cloud.sh, a part of AKS's images, when it requests certificates from the wire server.
func (c *Cloud) authorities(w http.ResponseWriter, r *http.Request) {
	all := c.current().Authorities
	root := min(1, len(all))
	switch name := r.URL.Query().Get("type") + "." + r.URL.Query().Get("ext"); name {
	case "cacertificates.json":
		documents := []map[string]string{}
		for _, a := range all {
			documents = append(documents, map[string]string{"Name": a.Name, "CertBody": a.PEM})
		}
		writeJSON(w, map[string]any{"Certificates": documents})
	case "operationrequestsroot.json":
		writeJSON(w, listed(all[:root]))
	case "operationrequestsintermediate.json":
		writeJSON(w, listed(all[root:]))
	default:
		i := slices.IndexFunc(all, func(a Authority) bool { return a.Name == name })
		if i < 0 {
			http.NotFound(w, r)
			return
		}
		_, _ = io.WriteString(w, all[i].PEM)
	}
}

// listed is a list of files, with the wire server's own spelling.
func listed(all []Authority) map[string]any {
	files := []map[string]string{}
	for _, a := range all {
		files = append(files, map[string]string{"ResouceFileName": a.Name})
	}
	return map[string]any{"OperationsInfo": files}
}

// Health is a machine's report to the wire server.
type Health struct {
	// State is "Ready" or "NotReady".
	State string `xml:"Container>RoleInstanceList>Role>Health>State"`
	// SubStatus and Description explain "NotReady".
	SubStatus   string `xml:"Container>RoleInstanceList>Role>Health>Details>SubStatus"`
	Description string `xml:"Container>RoleInstanceList>Role>Health>Details>Description"`
	// Incarnation, Container and Instance are the IDs of the goal state and of the machine.
	Incarnation string `xml:"GoalStateIncarnation"`
	Container   string `xml:"Container>ContainerId"`
	Instance    string `xml:"Container>RoleInstanceList>Role>InstanceId"`
}

// Health returns the reports on this instance's health, in their order.
func (c *Cloud) Health() []Health {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]Health(nil), c.health...)
}

// report keeps a report, if it can be parsed.
func (c *Cloud) report(body []byte) {
	var health Health
	if xml.Unmarshal(body, &health) != nil || health.State == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.health = append(c.health, health)
}

func writeXML(w http.ResponseWriter, document string) {
	w.Header().Set("Content-Type", "text/xml; charset=utf-8")
	_, _ = io.WriteString(w, document)
}
