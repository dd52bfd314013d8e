# shellcheck shell=bash disable=SC2154 # the variables are those of check/run
# Signatures, digests and documents of a release, each by Slipway and by other people's programs.

# check_trust RELEASE SIGNERS
check_trust() {
	local release=$1 signers=$2 n name
	say "signatures and digests: slipway, ssh-keygen, sha256sum"
	quiet "$work/slipway" verify-release "$release" --signers "$signers" --version "$version"
	for n in 1 2; do
		quiet ssh-keygen -Y verify -f "$signers" -I "test-key-$n" -n slipway-release -s "$release/SHA256SUMS.$n.sig" <"$release/SHA256SUMS"
	done
	(cd "$release" && quiet sha256sum --check --strict SHA256SUMS)
	same "files that the list lacks" "$(cd "$release" && find . -type f ! -name 'SHA256SUMS*' -printf '%f\n' | sort)" "$(cut -c67- "$release/SHA256SUMS" | sort)"

	say "one changed bit in each file is found"
	while read -r name; do
		rm -rf "$work/changed" && mkdir "$work/changed" && cp "$release"/SHA256SUMS* "$work/changed/" && cp "$release/$name" "$work/changed/"
		printf '\001' | dd of="$work/changed/$name" bs=1 seek=100 conv=notrunc status=none
		if "$work/slipway" verify-release "$work/changed" --signers "$signers" >/dev/null 2>&1; then
			die "slipway verify-release takes a changed $name"
		fi
	done < <(find "$release" -type f -printf '%f\n')

	say "what the programs say of themselves, and the licences of all modules"
	rm -rf "$work/tars" && mkdir "$work/tars"
	for name in "$release"/*_linux_*.tar.gz; do
		tar -xzf "$name" -C "$work/tars"
	done
	for name in "$work"/tars/*; do
		local program=${name##*/}
		program=$name/${program%%_*}
		same "modules in SPDX of ${name##*/}" "$(go version -m "$program" | awk '$1 == "dep" {print $2, $3, "go.sum: " $4}' | sort)" \
			"$(jq -r '.packages[] | select(.comment) | "\(.name) \(.versionInfo) \(.comment)"' "$release/${name##*/}.spdx.json" | sort)"
		same "modules in CycloneDX of ${name##*/}" "$(go version -m "$program" | awk '$1 == "dep" {print $2, $3}' | sort)" \
			"$(jq -r '.components[] | select(.name != "std") | "\(.name) \(.version)"' "$release/${name##*/}.cdx.json" | sort)"
		same "digest in SPDX of ${name##*/}" "$(sha256sum <"$program" | cut -c1-64)" "$(jq -r '.packages[0].checksums[0].checksumValue' "$release/${name##*/}.spdx.json")"
		go version -m "$program" | awk '$1 == "dep" {print $2, $3}' | while read -r module at; do
			grep -qF "$module $at, " "$name/LICENSES" || die "${name##*/}: LICENSES has no licence of $module $at"
		done
		if strings "$program" | grep -qF "$PWD"; then
			die "$program names the directory where it was built"
		fi
	done

	say "bills by CycloneDX's and SPDX's libraries, images by skopeo, manuals by mandoc"
	[ -d "$work/npm/node_modules/@cyclonedx" ] || quiet npm install --prefix "$work/npm" --no-audit --no-fund --silent @cyclonedx/cyclonedx-library@10.3.0 ajv@8 ajv-formats@3 ajv-formats-draft2019@1 spdx-expression-parse@4
	quiet node check/bills.js "$work/npm" "$release"/*.cdx.json "$release"/*.spdx.json
	for name in "$release"/*_oci.tar; do
		skopeo inspect --raw "oci-archive:$name" >"$work/index.json"
		same "platforms of ${name##*/}" "$platforms" "$(jq -r '[.manifests[].platform | .os + "/" + .architecture] | join(" ")' "$work/index.json")"
		rm -rf "$work/copy" && quiet skopeo copy --all "oci-archive:$name" "dir:$work/copy"
	done
	mandoc -Tlint -W warning "$work"/tars/*/man/man?/* || die "mandoc finds mistakes in a manual"
	same "subjects of the provenance" "$(jq -r '.files[] | select(.kind != "provenance") | .sha256 + "  " + .name' "$release/release.json")" \
		"$(jq -r '.subject[] | .digest.sha256 + "  " + .name' "$release"/*_provenance.json)"
}
