package host

import (
	"context"
	"strconv"

	"github.com/slipway-dev/slipway/internal/failpoint"
	"github.com/slipway-dev/slipway/internal/resource"
)

var (
	actionAttribute = records(failpoint.Attribute, keyField|valueField, 0)
	actionMount     = records(failpoint.Mount, keyField|valueField, 0) // a directory and its mounted content
	actionUnmount   = records(failpoint.Unmount, keyField, 0)
	actionSwapOn    = records(failpoint.SwapOn, keyField|valueField, 0) // a path and a size
	actionSwapOff   = records(failpoint.SwapOff, keyField, 0)
)

// Attribute returns the last recorded value, or "".
func (d *Directory) Attribute(path string) (string, error) {
	return d.recorded(path, actionAttribute, "")
}

// SetAttribute records the action.
func (d *Directory) SetAttribute(path, value string) error {
	return d.record(action{Action: actionAttribute, Key: path, Value: &value})
}

// Mounted reports whether the mount was recorded, and no unmount since.
func (d *Directory) Mounted(mount *resource.Mount) (bool, error) {
	what, err := d.recorded(mount.Where, actionMount, actionUnmount)
	return err == nil && what == mount.What, err
}

// Mount records the action.
func (d *Directory) Mount(_ context.Context, mount *resource.Mount) error {
	return d.record(action{Action: actionMount, Key: mount.Where, Value: &mount.What})
}

// Unmount records the action.
func (d *Directory) Unmount(_ context.Context, mount *resource.Mount) error {
	return d.record(action{Action: actionUnmount, Key: mount.Where})
}

// Swapping reports whether the swap file was recorded with its size, and not its removal since.
func (d *Directory) Swapping(swap *resource.Swap) (bool, error) {
	size, err := d.recorded(swap.Path, actionSwapOn, actionSwapOff)
	return err == nil && size == strconv.FormatInt(swap.Bytes, 10), err
}

// SwapFile reports whether a swap file was recorded, and not its removal since.
func (d *Directory) SwapFile(swap *resource.Swap) (bool, error) {
	size, err := d.recorded(swap.Path, actionSwapOn, actionSwapOff)
	return err == nil && size != "", err
}

// MakeSwap records the action. It creates no file, because a swap file is as large as the machine's memory.
func (d *Directory) MakeSwap(_ context.Context, swap *resource.Swap) error {
	size := strconv.FormatInt(swap.Bytes, 10)
	return d.record(action{Action: actionSwapOn, Key: swap.Path, Value: &size})
}

// RemoveSwap records the action.
func (d *Directory) RemoveSwap(_ context.Context, swap *resource.Swap) error {
	return d.record(action{Action: actionSwapOff, Key: swap.Path})
}
