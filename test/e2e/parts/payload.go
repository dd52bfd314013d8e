package parts

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
)

// Payload returns a directory with the program of pods' images, payload.
func (s *Store) Payload(ctx context.Context) (string, error) {
	return s.part(ctx, recipe{
		name:   "payload",
		inputs: []string{"2", runtime.Version()},
		files:  []string{filepath.Join(s.Repo, "test", "e2e", "cmd", "payload")},
		make: func(ctx context.Context, dir string) error {
			return goBuild(ctx, filepath.Join(s.Repo, "test", "e2e"), dir, "", "./cmd/payload")
		},
	})
}

// pauseArchive returns a directory with the archive of the sandbox image, which EKS's images have beside containerd's store.
func (s *Store) pauseArchive(ctx context.Context) (string, error) {
	payload, err := s.Payload(ctx)
	if err != nil {
		return "", err
	}
	return s.part(ctx, recipe{
		name:   PauseArchive,
		inputs: []string{"1", runtime.Version(), EKSPause, payload},
		make: func(_ context.Context, dir string) error {
			program, err := os.ReadFile(filepath.Join(payload, "payload"))
			if err != nil {
				return err
			}
			archive, err := imageArchive(EKSPause, program)
			if err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(dir, PauseArchive), archive, 0o644)
		},
	})
}

// PauseArchive is the archive's name in a case and in the facts.
const PauseArchive = "pause"

// BootstrapClient returns a directory with a replacement for AKS's client for attested identities.
func (s *Store) BootstrapClient(ctx context.Context) (string, error) {
	return s.part(ctx, recipe{
		name:   bootstrapClient,
		inputs: []string{"1", runtime.Version()},
		files:  []string{filepath.Join(s.Repo, "test", "e2e", "cmd", bootstrapClient)},
		make: func(ctx context.Context, dir string) error {
			return goBuild(ctx, filepath.Join(s.Repo, "test", "e2e"), dir, "", "./cmd/"+bootstrapClient)
		},
	})
}

const bootstrapClient = "aks-secure-tls-bootstrap-client"

// tarFile is a file of a tar archive.
type tarFile struct {
	name    string
	mode    int64
	content []byte
}

func tarOf(files ...tarFile) ([]byte, error) {
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	for _, f := range files {
		header := tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: f.mode, Size: int64(len(f.content))}
		if err := w.WriteHeader(&header); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

// imageArchive is an image with one program, in the format of "docker save".
func imageArchive(name string, program []byte) ([]byte, error) {
	layer, err := tarOf(tarFile{"payload", 0o755, program})
	if err != nil {
		return nil, err
	}
	digest := func(data []byte) string {
		sum := sha256.Sum256(data)
		return hex.EncodeToString(sum[:])
	}
	config, err := json.Marshal(map[string]any{
		"architecture": runtime.GOARCH,
		"os":           "linux",
		"config":       map[string]any{"Entrypoint": []string{"/payload"}},
		"rootfs":       map[string]any{"type": "layers", "diff_ids": []string{"sha256:" + digest(layer)}},
	})
	if err != nil {
		return nil, err
	}
	configName, layerName := digest(config)+".json", digest(layer)+"/layer.tar"
	manifest, err := json.Marshal([]map[string]any{{
		"Config": configName, "RepoTags": []string{name}, "Layers": []string{layerName},
	}})
	if err != nil {
		return nil, err
	}
	return tarOf(tarFile{configName, 0o644, config}, tarFile{layerName, 0o644, layer}, tarFile{"manifest.json", 0o644, manifest})
}
