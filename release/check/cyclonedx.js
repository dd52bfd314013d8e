// Validates bills of materials against CycloneDX's schema: node cyclonedx.js DIR FILE..., where DIR has the library.
const fs = require('node:fs')
const path = require('node:path')
const load = require('node:module').createRequire(path.resolve(process.argv[2], 'package.json'))
const { Validation, Spec } = load('@cyclonedx/cyclonedx-library')

const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot6)
Promise.all(process.argv.slice(3).map(async file => {
  const wrong = await validator.validate(fs.readFileSync(file, 'utf8'))
  if (wrong !== null) {
    console.error(file, wrong)
    process.exitCode = 1
  }
}))
