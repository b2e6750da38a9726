type LockedPackage = {
  readonly version?: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly [field: string]: unknown
}

type LockFile = { readonly packages: Readonly<Record<string, LockedPackage>> }

type ProjectManifest = {
  readonly version: string
  readonly description: string
  readonly license: string
  readonly bin: Readonly<Record<string, string>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly peerDependencies: Readonly<Record<string, string>>
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional: boolean }>>
}

/** The name in the registry, where `gatehouse` belongs to another project. The command is `gatehouse`. */
const name = 'gatehouse-gateway'

const files = ['bin', 'dist', 'console/dist', 'docs', 'migrations', 'NOTICE', 'CHANGELOG.md', 'SECURITY.md']

/** The manifest of the package with exact versions, and its lock file. */
export function createManifests(project: ProjectManifest, lockFile: LockFile) {
  const { version, description, license, bin, peerDependencies, peerDependenciesMeta } = project
  const dependencies = Object.fromEntries(
    Object.keys(project.dependencies).map((each) => [each, versionOf(lockFile.packages, each)]),
  )
  const engines = { node: '>=24.15' }
  const root = { name, version, license, bin, engines, dependencies, peerDependencies, peerDependenciesMeta }
  return { manifest: { description, type: 'module', files, ...root }, lock: createLock(root, lockFile) }
}

type PackedManifest = LockedPackage & { readonly name: string; readonly version: string }

/**
 * The lock file of a folder that is packed. npm leaves it out of the archive; `npm ci` and `npm sbom` in the folder use it, so an
 * image and the bill of materials have what was tested.
 */
export function createLock(root: PackedManifest, { packages }: LockFile) {
  const { name: lockName, version, dependencies, optionalDependencies } = root
  const installed = installedFor(packages, Object.keys({ ...dependencies, ...optionalDependencies }))
  return { name: lockName, version, lockfileVersion: 3, requires: true, packages: { '': root, ...installed } }
}

function versionOf(packages: LockFile['packages'], dependency: string): string {
  const version = packages[`node_modules/${dependency}`]?.version
  if (version === undefined) throw new Error(`package-lock.json does not contain ${dependency}: run npm install.`)
  return version
}

/** The packages of the lock file that these need, with those that these need in turn. */
function installedFor(packages: LockFile['packages'], names: readonly string[]): LockFile['packages'] {
  const found = new Set<string>()
  const visit = (folder: string, dependency: string): void => {
    const path = pathFrom(packages, folder, dependency)
    if (path === undefined || found.has(path)) return
    found.add(path)
    const { dependencies, optionalDependencies } = packages[path] ?? {}
    for (const each of Object.keys({ ...dependencies, ...optionalDependencies })) visit(`${path}/`, each)
  }
  for (const each of names) visit('', each)
  return Object.fromEntries(Object.entries(packages).filter(([path]) => found.has(path)))
}

/** Where Node finds a package: in `node_modules` of the folder, or of a folder above it. */
function pathFrom(packages: LockFile['packages'], folder: string, dependency: string): string | undefined {
  const path = `${folder}node_modules/${dependency}`
  if (path in packages || folder === '') return path in packages ? path : undefined
  return pathFrom(packages, folder.slice(0, folder.lastIndexOf('node_modules/')), dependency)
}
