import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, matchesGlob, relative, resolve } from 'node:path'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { runIn } from './image-container.ts'
import {
  argumentsOf,
  execForm,
  instructionsOf,
  pairsIn,
  readDockerfile,
  type Instruction,
  type Stage,
} from './image-dockerfile.ts'

/** The root file system of an image, and what the Dockerfile says about running it. */
export type BuiltImage = AsyncDisposable & Awaited<ReturnType<typeof buildImage>>

const project = resolve(import.meta.dirname, '../..')

/** Stands in for the runtime image and what a container runtime adds: Node, its libraries, devices and processes. */
const runtimeMounts = {
  readOnlyMounts: {
    '/nodejs/bin/node': process.execPath,
    ...withSamePath(['/lib', '/lib64', '/usr/lib'].filter((path) => existsSync(path))),
  },
  mounts: withSamePath(['/dev', '/proc']),
}

/**
 * Runs the instructions of a Dockerfile without a builder. This machine stands in for the base images: the build stage sees all
 * files of this machine, the image only Node and its libraries. The packages that the build installs are those of this clone.
 */
export async function buildImage(file: string, values: Readonly<Record<string, string>>) {
  await using opened = new AsyncDisposableStack()
  const folder = opened.use(await temporaryFolder()).path
  const { stages } = readDockerfile(file)
  const [root, buildRoot] = [makeFolder(folder, 'image'), makeFolder(folder, 'build')]
  const build = stages.find(({ name }) => name === 'build')
  if (build !== undefined) await runBuildStage(build, buildRoot, values)
  const last = stages.at(-1)
  for (const copy of instructionsOf(last, 'COPY')) copyFromBuild(copy, buildRoot, root)
  const textOf = (keyword: string): string => instructionsOf(last, keyword).at(-1)?.text ?? ''
  const wordsOf = (keyword: string): string[] => execForm(textOf(keyword)) ?? []
  makeFolder(root, 'tmp')
  makeMountPoints(root, runtimeMounts)
  const kept = opened.move()
  return {
    root,
    ...runtimeMounts,
    environment: pairsIn(textOf('ENV')),
    user: Number.parseInt(textOf('USER')),
    workingFolder: textOf('WORKDIR'),
    volume: wordsOf('VOLUME')[0] ?? '',
    entryPoint: wordsOf('ENTRYPOINT'),
    command: wordsOf('CMD'),
    healthCheck: wordsOf('HEALTHCHECK'),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

/** Copies the files of the project, and runs the commands as they are written. */
async function runBuildStage(stage: Stage, root: string, values: Readonly<Record<string, string>>): Promise<void> {
  const source = makeFolder(root, 'src')
  chmodSync(makeFolder(root, 'tmp'), 0o1777)
  const ofImage = ['app', 'config', 'data', 'nodejs', 'src', 'tmp']
  const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
  const ofMachine = readdirSync('/').filter((name) => !ofImage.includes(name) && isFolder(`/${name}`))
  const runtime = { '/nodejs/bin/node': process.execPath }
  const mounts = {
    readOnlyMounts: { ...withSamePath(ofMachine.map((name) => `/${name}`)), ...runtime },
    mounts: withSamePath(['/dev', '/proc', homedir(), project]), // npm has its cache in the home folder
  }
  makeMountPoints(root, mounts)
  const environment = {
    ...process.env,
    TMPDIR: '/tmp',
    npm_config_prefer_offline: 'true',
    ...argumentsOf(stage.instructions),
    ...values,
  }
  let user = 0
  for (const { keyword, flags, text } of stage.instructions) {
    if (keyword === 'USER') user = Number.parseInt(text)
    if (keyword === 'COPY' && flags['from'] === undefined) copyFromContext(text.split(/\s+/).slice(0, -1), source)
    if (keyword === 'RUN') {
      const container = { root, isReadOnly: false, user, workingFolder: '/src', ...mounts, environment }
      await runIn(container, ['/bin/sh', '-c', text])
    }
  }
}

/** The paths of `.dockerignore` that are in the build context, and the patterns of those that are not. */
const lines = readFileSync(join(project, '.dockerignore'), 'utf8').split('\n')
const included = lines.flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : []))
const excluded = lines.filter((line) => line.startsWith('**/'))

/** The packages and the built console of this clone are what the earlier steps of the build would make again. */
const ofEarlierSteps = ['node_modules', 'console/node_modules', 'console/dist']

/** Every file keeps its path, as the Dockerfile has it. */
function copyFromContext(paths: readonly string[], target: string): void {
  const isIncluded = (path: string): boolean =>
    !excluded.some((pattern) => matchesGlob(relative(project, path), pattern))
  for (const path of paths.includes('.') ? included : paths)
    cpSync(join(project, path), join(target, path), { recursive: true, filter: isIncluded })
  for (const path of ofEarlierSteps)
    if (existsSync(dirname(join(target, path))) && !existsSync(join(target, path)))
      symlinkSync(join(project, path), join(target, path))
}

function copyFromBuild({ text, flags }: Instruction, buildRoot: string, root: string): void {
  const [from = '', to = ''] = text.split(/\s+/)
  makeFolder(root, dirname(to))
  execFileSync('cp', ['-a', join(buildRoot, from), join(root, to)])
  execFileSync('chown', ['-hR', flags['chown'] ?? '0:0', join(root, to)])
}

function makeFolder(...parts: readonly string[]): string {
  const path = join(...parts)
  mkdirSync(path, { recursive: true, mode: 0o755 })
  return path
}

/** A mount replaces an existing file or folder. */
function makeMountPoints(root: string, { readOnlyMounts, mounts }: typeof runtimeMounts): void {
  for (const [path, source] of Object.entries({ ...readOnlyMounts, ...mounts })) {
    if (statSync(source).isDirectory()) makeFolder(root, path)
    else {
      makeFolder(root, dirname(path))
      writeFileSync(join(root, path), '')
    }
  }
}

function withSamePath(paths: readonly string[]): Record<string, string> {
  return Object.fromEntries(paths.map((path) => [path, path]))
}
