package host

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/internal/failpoint"
)

// maxName is the longest name of an interface (include/uapi/linux/if.h, IFNAMSIZ).
const maxName = unix.IFNAMSIZ - 1

// MakeDummy creates a dummy interface, brings it up, and gives it addresses without a network (rtnetlink(7)). If it
// already exists, it keeps its other addresses.
func (m *Machine) MakeDummy(name string, addresses []netip.Addr) error {
	err := checkInterface(name)
	if err == nil {
		err = makeInterface(failpoint.Change{Kind: failpoint.Interface, Name: name}, "dummy", addresses)
	}
	if err != nil {
		return fmt.Errorf("interface %q: %w", name, err)
	}
	return nil
}

func makeInterface(change failpoint.Change, kind string, addresses []netip.Addr) error {
	info := attribute(unix.IFLA_LINKINFO, attribute(unix.IFLA_INFO_KIND, []byte(kind)))
	made := linkMessage(0, unix.IFF_UP, nameAttribute(change.Name), info)
	if err := talk(change, unix.RTM_NEWLINK, unix.NLM_F_CREATE|unix.NLM_F_EXCL, made); err != nil && !errors.Is(err, unix.EEXIST) {
		return err
	}
	link, err := net.InterfaceByName(change.Name)
	if err != nil {
		return err
	}
	if err := talk(change, unix.RTM_NEWLINK, 0, linkMessage(link.Index, unix.IFF_UP)); err != nil {
		return err
	}
	for _, a := range addresses {
		if err := talk(change, unix.RTM_NEWADDR, unix.NLM_F_CREATE|unix.NLM_F_REPLACE, addressMessage(link.Index, a)); err != nil {
			return fmt.Errorf("address %s: %w", a, err)
		}
	}
	return nil
}

// RemoveInterface removes an interface with its addresses. If it is missing, that is not an error.
func (m *Machine) RemoveInterface(name string) error {
	err := checkInterface(name)
	if err == nil {
		err = talk(failpoint.Change{Kind: failpoint.NoInterface, Name: name}, unix.RTM_DELLINK, 0, linkMessage(0, 0, nameAttribute(name)))
	}
	if err != nil && !errors.Is(err, unix.ENODEV) {
		return fmt.Errorf("interface %q: %w", name, err)
	}
	return nil
}

func checkInterface(name string) error {
	if name == "" || len(name) > maxName || strings.ContainsAny(name, "/ \x00") || name == "." || name == ".." {
		return errors.New("is not a name that an interface can have")
	}
	return nil
}

// linkMessage is the body of a message about an interface (struct ifinfomsg).
func linkMessage(index int, flags uint32, attributes ...[]byte) []byte {
	message := make([]byte, unix.SizeofIfInfomsg)
	binary.NativeEndian.PutUint32(message[4:], uint32(index))
	binary.NativeEndian.PutUint32(message[8:], flags)
	binary.NativeEndian.PutUint32(message[12:], flags) // the mask of the valid flags
	for _, a := range attributes {
		message = append(message, a...)
	}
	return message
}

// addressMessage is the body of a message about an address (struct ifaddrmsg).
func addressMessage(index int, address netip.Addr) []byte {
	message := make([]byte, unix.SizeofIfAddrmsg)
	message[0], message[1] = unix.AF_INET, byte(address.BitLen())
	if address.Is6() {
		message[0] = unix.AF_INET6
	}
	binary.NativeEndian.PutUint32(message[4:], uint32(index))
	message = append(message, attribute(unix.IFA_LOCAL, address.AsSlice())...)
	return append(message, attribute(unix.IFA_ADDRESS, address.AsSlice())...)
}

// attribute is a part of a message, padded to four bytes (struct rtattr).
func attribute(kind uint16, data []byte) []byte {
	a := make([]byte, unix.SizeofRtAttr, unix.SizeofRtAttr+len(data)+3)
	binary.NativeEndian.PutUint16(a, uint16(unix.SizeofRtAttr+len(data)))
	binary.NativeEndian.PutUint16(a[2:], kind)
	a = append(a, data...)
	for len(a)%unix.NLMSG_ALIGNTO != 0 {
		a = append(a, 0)
	}
	return a
}

func nameAttribute(name string) []byte { return attribute(unix.IFLA_IFNAME, []byte(name+"\x00")) }

// talk sends the kernel a message about its network, and returns the answer (netlink(7)).
func talk(change failpoint.Change, kind, flags uint16, body []byte) error {
	socket, err := syscall.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return fmt.Errorf("netlink: %w", err)
	}
	defer syscall.Close(socket)
	message := make([]byte, unix.SizeofNlMsghdr, unix.SizeofNlMsghdr+len(body))
	binary.NativeEndian.PutUint32(message, uint32(unix.SizeofNlMsghdr+len(body)))
	binary.NativeEndian.PutUint16(message[4:], kind)
	binary.NativeEndian.PutUint16(message[6:], unix.NLM_F_REQUEST|unix.NLM_F_ACK|flags)
	message = append(message, body...)
	err = failpoint.Pass(change, func() error {
		return syscall.Sendto(socket, message, 0, &syscall.SockaddrNetlink{Family: unix.AF_NETLINK})
	})
	if err != nil {
		return fmt.Errorf("netlink: %w", err)
	}
	answer := make([]byte, 4096)
	n, _, err := syscall.Recvfrom(socket, answer, 0)
	if err != nil {
		return fmt.Errorf("netlink: %w", err)
	}
	messages, err := syscall.ParseNetlinkMessage(answer[:n])
	if err != nil {
		return fmt.Errorf("netlink: %w", err)
	}
	for _, m := range messages {
		if m.Header.Type == unix.NLMSG_ERROR && len(m.Data) >= 4 {
			if code := int32(binary.NativeEndian.Uint32(m.Data)); code != 0 {
				return fmt.Errorf("the kernel says: %w", syscall.Errno(-code))
			}
			return nil
		}
	}
	return errors.New("netlink: the kernel has not answered")
}
