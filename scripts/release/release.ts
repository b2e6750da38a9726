import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Files whose first `"version"` is that of the project; the lock file has it a second time, for the root package. */
const versioned = { 'package.json': 1, 'package-lock.json': 2 } as const
const chart = 'deploy/helm/gatehouse/Chart.yaml'

/** Writes the version and the heading of the changelog, commits and tags. Changes nothing if the release is not possible. */
export async function prepareRelease(root: string, version: string, now: Date): Promise<void> {
  const git = async (...args: readonly string[]): Promise<string> =>
    (await run('git', [...args], { cwd: root })).stdout.trim()
  const read = (file: string): string => readFileSync(join(root, file), 'utf8')
  const { version: current } = JSON.parse(read('package.json')) as { version: string }
  checkVersion(version, current)
  if ((await git('status', '--porcelain')) !== '')
    throw new Error('The working tree has changes: commit them or remove them, then run the release again.')
  if ((await git('tag', '--list', `v${version}`)) !== '')
    throw new Error(`The tag v${version} exists: choose a higher version.`)
  const changelog = releasedChangelog(read('CHANGELOG.md'), version, now)
  writeFileSync(join(root, 'CHANGELOG.md'), changelog)
  for (const [file, count] of Object.entries(versioned))
    writeFileSync(join(root, file), withVersion(read(file), { from: current, to: version, count }))
  writeFileSync(join(root, chart), read(chart).replaceAll(/^(version|appVersion): .*$/gm, `$1: ${version}`))
  await git('commit', '--quiet', '--all', '--message', `release: version ${version}`)
  await git('tag', '--annotate', `v${version}`, '--message', `Version ${version}`)
}

function checkVersion(version: string, current: string): void {
  if (!/^(?:0|[1-9]\d*)(?:\.(?:0|[1-9]\d*)){2}$/.test(version))
    throw new Error(`The version must be three numbers, such as 0.2.0: npm run release -- X.Y.Z. It is "${version}".`)
  const [next = [], before = []] = [version, current].map((each) => each.split('.').map(Number))
  const at = next.findIndex((number, index) => number !== before[index])
  if (at === -1 || (next[at] ?? 0) < (before[at] ?? 0))
    throw new Error(`Version ${version} is not higher than ${current}, the version in package.json.`)
}

/** Puts the heading of the version below `## [Unreleased]`, so that the entries there belong to the version. */
function releasedChangelog(changelog: string, version: string, now: Date): string {
  const heading = '## [Unreleased]\n'
  const [before, after] = changelog.split(heading)
  if (before === undefined || after === undefined) throw new Error('CHANGELOG.md has no heading ## [Unreleased].')
  if (!/^- /m.test(after.split(/^## /m)[0] ?? '')) throw new Error('CHANGELOG.md has no entry below ## [Unreleased].')
  return `${before}${heading}\n## [${version}] - ${now.toISOString().slice(0, 10)}\n${after}`
}

function withVersion(
  text: string,
  change: { readonly from: string; readonly to: string; readonly count: number },
): string {
  let left = change.count
  return text.replaceAll(`"version": "${change.from}"`, (found) => (left-- > 0 ? `"version": "${change.to}"` : found))
}

/** The packages that an installation consists of, in CycloneDX format. The lock file in the folder names them. */
export async function writeBillOfMaterials(folder: string, path: string): Promise<string> {
  const args = [
    'sbom',
    '--sbom-format',
    'cyclonedx',
    '--sbom-type',
    'application',
    '--package-lock-only',
    '--omit',
    'dev',
  ]
  const { stdout } = await run('npm', args, { cwd: folder, maxBuffer: 64 * 1024 * 1024 })
  writeFileSync(path, stdout)
  return path
}
