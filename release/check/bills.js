// Validates bills of materials: node bills.js DIR FILE..., where DIR has the libraries. CycloneDX's own library validates its form against the
// schema. For SPDX's form the identifiers, relationships and licence expressions are checked: no program for its schema can be had from npm,
// Debian or Go's proxy.
const fs = require('node:fs')
const path = require('node:path')
const load = require('node:module').createRequire(path.resolve(process.argv[2], 'package.json'))
const { Validation, Spec } = load('@cyclonedx/cyclonedx-library')
const parseLicense = load('spdx-expression-parse')

const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot6)

function spdx (document) {
  const ids = new Set([document.SPDXID, ...document.packages.map(p => p.SPDXID)])
  const wrong = []
  if (document.spdxVersion !== 'SPDX-2.3' || ids.size !== document.packages.length + 1) wrong.push('version, or an identifier that is there twice')
  for (const p of document.packages) {
    try {
      parseLicense(p.licenseConcluded)
    } catch (err) {
      wrong.push(`${p.name}: ${p.licenseConcluded}: ${err}`)
    }
  }
  for (const r of document.relationships) {
    if (!ids.has(r.spdxElementId) || !ids.has(r.relatedSpdxElement)) wrong.push(`${r.spdxElementId} ${r.relationshipType} ${r.relatedSpdxElement}`)
  }
  return wrong.length > 0 ? wrong : null
}

Promise.all(process.argv.slice(3).map(async file => {
  const text = fs.readFileSync(file, 'utf8')
  const wrong = file.endsWith('.spdx.json') ? spdx(JSON.parse(text)) : await validator.validate(text)
  if (wrong !== null) {
    console.error(file, wrong)
    process.exitCode = 1
  }
}))
