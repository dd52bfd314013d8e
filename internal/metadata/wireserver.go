package metadata

import (
	"context"
	"encoding/xml"
	"net/http"
	"strings"
	"time"
)

// What the wire server is asked, as Azure's documentation has it for a machine without its agent:
// https://learn.microsoft.com/azure/virtual-machines/linux/no-agent
const (
	wireAddress   = "http://168.63.129.16"
	goalStatePath = "/machine/?comp=goalstate"
	healthPath    = "/machine?comp=health"
	wireVersion   = "2012-11-30"
	agentName     = "slipway-node"
	xmlType       = "text/xml; charset=utf-8"
)

// maxDescription bounds the description of a failure, in bytes before it is escaped. It is what cloud-init
// sends at most.
const maxDescription = 512

// wirePolicy: 410 is for a goal state that has been replaced, so that the next one must be read.
var wirePolicy = policy{
	again:  []int{http.StatusRequestTimeout, http.StatusGone, http.StatusTooManyRequests},
	settle: 10 * time.Second,
}

// WireServer is the server to which a machine on Azure reports how its provisioning ended. One that never reports has failed to
// be provisioned, as far as Azure knows, after some time.
type WireServer struct{ client *http.Client }

// NewWireServer returns the wire server. How it is reached is for tests to say; dial is nil otherwise.
func NewWireServer(dial Dial) *WireServer {
	return &WireServer{newClient(onlyWireServer, dial, 0)}
}

// ReportReady reports that the machine is provisioned, with patience: until the server has taken the report,
// refuses it for good, or ctx ends. The error is an *Error.
func (w *WireServer) ReportReady(ctx context.Context) error {
	return w.report(ctx, "<State>Ready</State>")
}

// ReportFailure reports that the machine could not be provisioned, and why. Of the description 512 bytes are
// sent; Azure shows them to whoever created the machine, so it must not hold a secret. It is as patient as
// ReportReady.
func (w *WireServer) ReportFailure(ctx context.Context, description string) error {
	return w.report(ctx, "<State>NotReady</State><Details><SubStatus>ProvisioningFailed</SubStatus><Description>"+
		escaped(shortened(description))+"</Description></Details>")
}

// report sends the machine's health. Each try begins with the goal state, as the report has to name the one
// that is there now.
func (w *WireServer) report(ctx context.Context, health string) error {
	_, err := retry(ctx, func(ctx context.Context) (answer, *failure) {
		got, f := w.ask(ctx, http.MethodGet, goalStatePath, "")
		if f != nil {
			return answer{}, f
		}
		goal, ok := parseGoalState(got.body)
		if !ok {
			return answer{}, failed(wireAddress+goalStatePath, WrongType, "the answer is not a goal state")
		}
		return w.ask(ctx, http.MethodPost, healthPath, goal.report(health))
	})
	return err
}

func (w *WireServer) ask(ctx context.Context, method, path, body string) (answer, *failure) {
	header := map[string]string{"x-ms-version": wireVersion, "x-ms-agent-name": agentName}
	if body != "" {
		header["Content-Type"] = xmlType
	}
	return exchange(ctx, w.client, question{
		method: method, url: wireAddress + path, header: header, body: body,
		limit: maxGoalState, refused: []string{htmlType, jsonType}, policy: wirePolicy,
	})
}

// report is the document that reports on the machine that a goal state is for.
func (g goalState) report(health string) string {
	return xml.Header +
		`<Health xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xsd="http://www.w3.org/2001/XMLSchema">` +
		"<GoalStateIncarnation>" + escaped(g.incarnation) + "</GoalStateIncarnation>" +
		"<Container><ContainerId>" + escaped(g.container) + "</ContainerId><RoleInstanceList><Role>" +
		"<InstanceId>" + escaped(g.instance) + "</InstanceId><Health>" + health + "</Health>" +
		"</Role></RoleInstanceList></Container></Health>\n"
}

// shortened is the beginning of a text that fits, without half a character at its end.
func shortened(text string) string {
	text = strings.ToValidUTF8(text, "?")
	if len(text) <= maxDescription {
		return text
	}
	return strings.ToValidUTF8(text[:maxDescription], "")
}

func escaped(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a builder takes everything
	return b.String()
}
