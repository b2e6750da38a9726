// What `npm run release -- X.Y.Z` runs: writes the version and the changelog, commits, tags, and writes the package and its bill
// of materials to `build/`. It publishes nothing, and prints the commands that do.
import { resolve } from 'node:path'
import { createPackage } from './pack/package.ts'
import { prepareRelease, writeBillOfMaterials } from './release/release.ts'

const root = resolve(import.meta.dirname, '..')

try {
  const version = process.argv[2] ?? ''
  await prepareRelease(root, version, new Date())
  const { folder, tarball } = await createPackage(resolve(root, 'build'))
  const bill = await writeBillOfMaterials(folder, resolve(root, `build/gatehouse-gateway-${version}.cdx.json`))
  process.stdout.write(`Released ${version} on this machine: a commit, the tag v${version}, and
  ${tarball}
  ${bill}
Look at them, then publish: git push --follow-tags && npm publish ${tarball}
`)
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
