// What `npm run release -- X.Y.Z` runs: writes the version and the changelog, commits, tags, and writes the package and its bill
// of materials to `build/`. It publishes nothing, and prints the commands that do.
import { resolve } from 'node:path'
import { createEncoderPackage, createPackage } from './pack/package.ts'
import { prepareRelease, writeBillOfMaterials } from './release/release.ts'

const root = resolve(import.meta.dirname, '..')

try {
  const version = process.argv[2] ?? ''
  await prepareRelease(root, version, new Date())
  const build = resolve(root, 'build')
  const packages = [await createPackage(build), await createEncoderPackage(build)].filter((each) => each !== undefined)
  const bills = packages.map(({ folder, tarball }) =>
    writeBillOfMaterials(folder, tarball.replace(/\.tgz$/, '.cdx.json')),
  )
  const files = [...packages.map(({ tarball }) => tarball), ...(await Promise.all(bills))]
  const publish = packages.map(({ tarball }) => `npm publish ${tarball}`)
  process.stdout.write(`Released ${version} on this machine: a commit, the tag v${version}, and
${files.map((file) => `  ${file}`).join('\n')}
Look at them, then publish: ${['git push --follow-tags', ...publish].join(' && ')}
The package of the encoder has a version of its own: publish it only if that version is new.
`)
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
