type LockedPackage = {
  readonly version?: string
  readonly dev?: boolean
  readonly link?: boolean
  readonly [field: string]: unknown
}

type LockFile = { readonly packages: Readonly<Record<string, LockedPackage>> }

type ProjectManifest = {
  readonly version: string
  readonly description: string
  readonly license: string
  readonly bin: Readonly<Record<string, string>>
  readonly dependencies: Readonly<Record<string, string>>
}

/** The name in the registry, where `gatehouse` belongs to another project. The command is `gatehouse`. */
const name = 'gatehouse-gateway'

const files = ['bin', 'dist', 'console/dist', 'docs', 'migrations', 'NOTICE', 'CHANGELOG.md', 'SECURITY.md']

/**
 * The manifest of the package with exact versions, and the lock file of the folder that is packed. npm leaves a lock file out of
 * the archive; `npm ci` and `npm sbom` in the folder use it, so an image and the bill of materials have what was tested.
 */
export function createManifests(project: ProjectManifest, { packages }: LockFile) {
  const { version, description, license, bin } = project
  const dependencies = Object.fromEntries(
    Object.keys(project.dependencies).map((each) => [each, versionOf(packages, each)]),
  )
  const manifest = {
    name,
    version,
    description,
    license,
    type: 'module',
    bin,
    engines: { node: '>=24.15' },
    files,
    dependencies,
  }
  const production = Object.entries(packages).filter(
    ([path, each]) => path.startsWith('node_modules/') && each.dev !== true && each.link !== true,
  )
  const root = { name, version, license, bin, engines: manifest.engines, dependencies }
  const lock = {
    name,
    version,
    lockfileVersion: 3,
    requires: true,
    packages: { '': root, ...Object.fromEntries(production) },
  }
  return { manifest, lock }
}

function versionOf(packages: LockFile['packages'], dependency: string): string {
  const version = packages[`node_modules/${dependency}`]?.version
  if (version === undefined) throw new Error(`package-lock.json does not contain ${dependency}: run npm install.`)
  return version
}
