package registry

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestImageFromRegistryWithLogin: a registry that wants a login gets what "docker login", a credential helper or "podman login" keep,
// and no other registry does.
func TestImageFromRegistryWithLogin(t *testing.T) {
	withTokens := newServer(t)
	withTokens.User, withTokens.Password = administrator, password
	for name, s := range map[string]*server{"tokens": withTokens, "passwords": newPasswordServer(t)} {
		s.tool("v1.4.2")
		s.image("3.10", "first")
		auth := base64.StdEncoding.EncodeToString([]byte(administrator + ":" + password))
		kept := func(host, field, value string) string {
			return string(encoded(map[string]any{"auths": map[string]any{host: map[string]string{field: value}}}))
		}
		for _, c := range []struct {
			name, variable, file, text string
			refused                    string
		}{
			{name: "docker", variable: "DOCKER_CONFIG", file: "docker/config.json", text: kept(s.Host, "auth", auth)},
			{name: "podman", variable: "REGISTRY_AUTH_FILE", file: "auth.json", text: kept(s.Host, "auth", auth)},
			{name: "a helper", variable: "DOCKER_CONFIG", file: "docker/config.json", text: fmt.Sprintf(`{"credHelpers":{%q:"kept"}}`, s.Host)},
			{name: "a missing helper", variable: "DOCKER_CONFIG", file: "docker/config.json", text: `{"credsStore":"missing"}`, refused: "docker-credential-missing"},
			{name: "another registry's", variable: "DOCKER_CONFIG", file: "docker/config.json", text: kept("other.example", "auth", auth), refused: "runc"},
			{name: "a wrong password", variable: "DOCKER_CONFIG", file: "docker/config.json", text: kept(s.Host, "auth", "YTpi"), refused: "runc"},
			{name: "none", refused: "runc"},
		} {
			t.Run(name+" "+c.name, func(t *testing.T) {
				w := newWorkstation(t, s)
				if err := os.MkdirAll(filepath.Join(w.dir, "docker"), 0o700); err != nil {
					t.Fatal(err)
				}
				if c.file != "" {
					w.write(c.file, c.text)
					w.env = append(w.env, c.variable+"="+filepath.Join(w.dir, strings.TrimSuffix(c.file, "/config.json")))
				}
				helper := fmt.Sprintf("#!/bin/sh\nread host; test \"$host\" = %s && echo '{\"Username\":\"%s\",\"Secret\":\"%s\"}'\n", s.Host, administrator, password)
				if err := os.WriteFile(filepath.Join(w.dir, "docker-credential-kept"), []byte(helper), 0o700); err != nil {
					t.Fatal(err)
				}
				w.env = append(w.env, "PATH="+w.dir+":"+os.Getenv("PATH"))
				if c.refused != "" {
					if out := w.run(1, "lock", "--cache", "c"); !strings.Contains(out, c.refused) || strings.Contains(out, password) || strings.Contains(out, auth) {
						t.Error(out)
					}
					return
				}
				w.run(0, "lock", "--cache", "c")
				w.run(0, "fetch", "--cache", "c")
			})
		}
	}
}

// TestImageFromRegistryWithIdentityToken: what "az acr login" keeps is a refresh token, and not a password.
func TestImageFromRegistryWithIdentityToken(t *testing.T) {
	s := newServer(t)
	s.tool("v1.4.2")
	s.image("3.10", "first")
	response, err := s.http.Client().PostForm("https://"+s.Host+"/oauth2/exchange", url.Values{
		"grant_type": {"access_token"}, "service": {s.Host}, "tenant": {tenant}, "access_token": {access},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var given struct {
		Token string `json:"refresh_token"`
	}
	if err := json.NewDecoder(response.Body).Decode(&given); err != nil {
		t.Fatal(err)
	}
	w := newWorkstation(t, s)
	w.write("auth.json", string(encoded(map[string]any{"auths": map[string]any{s.Host: map[string]string{
		"auth": base64.StdEncoding.EncodeToString([]byte("00000000-0000-0000-0000-000000000000:")), "identitytoken": given.Token,
	}}})))
	w.env = append(w.env, "REGISTRY_AUTH_FILE="+filepath.Join(w.dir, "auth.json"))
	w.run(0, "lock", "--cache", "c")
	w.run(0, "fetch", "--cache", "c")
}
