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
  const root = { name, version, license, bin, engines: manifest.engines, dependencies }
  const lock = {
    name,
    version,
    lockfileVersion: 3,
    requires: true,
    packages: { '': root, ...installedFor(packages, Object.keys(dependencies)) },
  }
  return { manifest, lock }
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
