package envelope

import (
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
)

// ignition opens the files that an Ignition config writes at the places (specification 3.x, "storage.files"). It does
// not fetch files or merged configs: Ignition does.
func (o *opener) ignition(l layer, content []byte) error {
	l = l.in("ignition", nil)
	if err := o.admit(&l, content); err != nil {
		return err
	}
	tree, err := document.Parse(content)
	if errors.Is(err, document.ErrTooLarge) {
		return l.beyond("levels of nested values", document.MaxDepth)
	}
	if err != nil {
		return l.broken("the config has a field twice, or is not UTF-8") // it is valid JSON, and the error itself may name the field
	}
	storage, _ := tree.Get("storage")
	files, found := storage.Get("files")
	if !found || files.Kind != document.List {
		o.see(seenIgnition)
		return nil
	}
	if len(files.Items) > maxFiles {
		return l.beyond("files", maxFiles)
	}
	before := len(o.found)
	for i := range files.Items {
		if err := o.ignitionFile(l, &files.Items[i]); err != nil {
			return err
		}
	}
	if len(o.found) == before {
		o.see(seenIgnition)
	}
	return nil
}

// What is reported of an Ignition config without a contract.
const (
	seenIgnition = "an Ignition config that writes no contract"
	seenFetched  = "an Ignition file that is fetched"
)

// ignitionFile opens a file, if it is at one of the places.
func (o *opener) ignitionFile(l layer, file *document.Node) error {
	path := file.GetText("path")
	if !slices.Contains(o.places, path) {
		return nil
	}
	contents, _ := file.Get("contents")
	source := contents.GetText("source")
	switch {
	case source == "":
		o.see(empty.String())
		return nil
	case !isDataURL(source):
		o.see(seenFetched)
		return nil
	}
	data, err := o.dataURL(&l, source)
	if err != nil {
		return err
	}
	switch contents.GetText("compression") {
	case "":
	case "gzip":
		if data, err = o.gunzip(&l, data); err != nil {
			return err
		}
	default:
		return l.broken("the compression of a file is unknown")
	}
	return o.open(l.at(path, data))
}

const dataScheme = "data:"

func isDataURL(source string) bool {
	return len(source) >= len(dataScheme) && strings.EqualFold(source[:len(dataScheme)], dataScheme)
}

// dataURL decodes the data of a data URL (RFC 2397, section 3).
func (o *opener) dataURL(l *layer, source string) ([]byte, error) {
	mediaType, encoded, found := strings.Cut(source[len(dataScheme):], ",")
	if !found {
		return nil, l.broken("a data URL has no data")
	}
	decoded, err := url.PathUnescape(encoded)
	if err != nil {
		return nil, l.broken("a data URL has a percent sign without two hexadecimal digits after it") // the error itself shows some of the URL
	}
	if strings.HasSuffix(mediaType, ";base64") {
		return o.decode64(l, []byte(decoded))
	}
	return []byte(decoded), o.spend(l, len(decoded))
}
