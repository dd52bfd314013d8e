// Package cri asks a container runtime about images, and makes it pull one (Kubernetes: CRI, ImageService of version
// v1), before the kubelet does.
//
// It also shows the runtime's conditions, sandboxes and containers, for the doctor, and changes none of them: they are the kubelet's.
// internal/host calls it.
package cri

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/slipway-dev/slipway/internal/grpc"
)

const (
	statusMethod = "/runtime.v1.ImageService/ImageStatus"
	pullMethod   = "/runtime.v1.ImageService/PullImage"
)

// The fields of the messages (Kubernetes: staging/src/k8s.io/cri-api/pkg/apis/runtime/v1/api.proto). All are texts or messages.
const (
	specImage         = 1 // ImageSpec.image
	requestImage      = 1 // ImageStatusRequest.image, PullImageRequest.image
	requestAuth       = 2 // PullImageRequest.auth
	authUsername      = 1 // AuthConfig.username
	authPassword      = 2 // AuthConfig.password
	authServer        = 4 // AuthConfig.server_address
	authIdentityToken = 5 // AuthConfig.identity_token
	responseImage     = 1 // ImageStatusResponse.image, which is missing if there is no such image
)

// Login is the runtime's login to a registry, by the registry's host and port: a refresh token, or else a name and a
// password.
type Login struct{ Server, RefreshToken, Username, Password string }

// HasImage reports whether the runtime at a socket has an image.
func HasImage(ctx context.Context, socket, image string) (bool, error) {
	answer, err := ask(ctx, socket, statusMethod, appendField(nil, requestImage, imageSpec(image)), 0)
	if err != nil {
		return false, err
	}
	return bytes.HasPrefix(answer, []byte{responseImage<<3 | lengthDelimited}), nil
}

// PullImage makes the runtime at a socket pull an image, anonymously if login is nil. A login for another registry than
// the image's has no effect.
func PullImage(ctx context.Context, socket, image string, login *Login) error {
	request := appendField(nil, requestImage, imageSpec(image))
	if login != nil {
		auth := appendField(nil, authServer, []byte("https://"+login.Server)) // containerd compares it as a URL (pkg/cri, ParseAuth)
		if login.RefreshToken != "" {
			auth = appendField(auth, authIdentityToken, []byte(login.RefreshToken))
		} else {
			auth = appendField(auth, authUsername, []byte(login.Username))
			auth = appendField(auth, authPassword, []byte(login.Password))
		}
		request = appendField(request, requestAuth, auth)
	}
	_, err := call(ctx, socket, pullMethod, request, 0)
	if err != nil {
		return fmt.Errorf("have %s pull %s: %w", socket, image, err)
	}
	return nil
}

// call makes a call. limit is the size of the largest answer, 0 for that of one message.
func call(ctx context.Context, socket, method string, message []byte, limit int) ([]byte, error) {
	conn, err := grpc.Dial(ctx, socket)
	if err != nil {
		return nil, err
	}
	if limit > 0 {
		conn.Accept(limit)
	}
	answer, err := conn.Call(ctx, method, message)
	return answer, errors.Join(err, conn.Close())
}

func imageSpec(image string) []byte { return appendField(nil, specImage, []byte(image)) }

// appendField appends a field that is a text or a message.
//
//go:noinline
func appendField(dst []byte, number int, value []byte) []byte {
	dst = append(dst, byte(number<<3|lengthDelimited)) // all numbers here are at most 15
	return append(binary.AppendUvarint(dst, uint64(len(value))), value...)
}
