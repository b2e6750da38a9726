import { execFile } from 'node:child_process'
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { checkReferences, toJavaScript } from './javascript.ts'
import { createLock, createManifests } from './manifest.ts'

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '../..')

export type Package = {
  /** The folder with the contents of the package. */
  readonly folder: string
  readonly tarball: string
  readonly files: number
  readonly bytes: number
}

/** Files that are copied as they are. Messages of the commands name guides by their path. */
const copied = [
  'LICENSE',
  'NOTICE',
  'CHANGELOG.md',
  'SECURITY.md',
  'migrations/*.sql',
  'docs/*.md',
  'docs/{api,guide}/*.md',
]
const consoleFiles = ['console/dist/index.html', 'console/dist/stamp.json', 'console/dist/assets/*']
const docsFiles = ['docs/dist/*.json', 'docs/dist/{assets,pages}/*', 'docs/dist/ports/*/*']

/** What the sources read while they run, beside other modules: pages, styles, scripts of Redis, the classifier and its kernel. */
const readByModules = 'src/**/*.{bin,css,html,js,lua,svg,wasm}'

/** Builds the console and the documentation, writes the contents of the package to a folder in `target`, and packs them beside it. */
export async function createPackage(target: string): Promise<Package> {
  // npm names the root of the bill of materials by the folder.
  const folder = join(target, 'gatehouse-gateway')
  rmSync(folder, { recursive: true, force: true })
  for (const script of ['build-console.mjs', 'build-docs.mjs'])
    await run(process.execPath, [join(root, 'scripts', script), '--strict'])
  for (const file of globSync([...copied, ...consoleFiles, ...docsFiles], { cwd: root })) copy(file, join(folder, file))
  for (const file of globSync(readByModules, { cwd: root })) copy(file, join(folder, inPackage(file)))
  for (const file of globSync(['src/**/*.ts', 'bin/*.mjs'], { cwd: root })) {
    if (!file.endsWith('.test.ts')) write(join(folder, inPackage(file)), toJavaScript(read(file)))
  }
  checkReferences(folder)
  write(join(folder, 'README.md'), withoutPictures(read('README.md')))
  const { manifest, lock } = createManifests(JSON.parse(read('package.json')), JSON.parse(read('package-lock.json')))
  write(join(folder, 'package.json'), json(manifest))
  write(join(folder, 'package-lock.json'), json(lock))
  return { folder, ...(await pack(folder, target)) }
}

const encoder = 'packages/moderation-encoder'

/** Packs the moderation encoder in the same way. Undefined in a clone without its weights. */
export async function createEncoderPackage(target: string): Promise<Package | undefined> {
  if (!existsSync(join(root, encoder, 'model.onnx'))) return undefined
  const folder = join(target, 'gatehouse-moderation-encoder')
  rmSync(folder, { recursive: true, force: true })
  const manifest = JSON.parse(read(join(encoder, 'package.json')))
  for (const file of globSync([...manifest.files, 'package.json'], { cwd: join(root, encoder) }))
    copy(join(encoder, file), join(folder, file))
  const { name, version, license, optionalDependencies } = manifest
  const lock = createLock({ name, version, license, optionalDependencies }, JSON.parse(read('package-lock.json')))
  write(join(folder, 'package-lock.json'), json(lock))
  return { folder, ...(await pack(folder, target)) }
}

/** The path in the package: `src/main.ts` is `dist/main.js` there. The depth is the same, so relative paths stay true. */
const inPackage = (file: string): string => file.replace(/^src\//, 'dist/').replace(/\.ts$/, '.js')

/** The pictures are a hundred times as large as the pages, and the package does not contain them. */
const withoutPictures = (markdown: string): string => markdown.replaceAll(/^!\[.*\]\(.*\)\n\n/gm, '')

const read = (file: string): string => readFileSync(join(root, file), 'utf8')
const json = (value: object): string => `${JSON.stringify(value, null, 2)}\n`

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

function copy(file: string, path: string): void {
  mkdirSync(dirname(path), { recursive: true })
  cpSync(join(root, file), path)
}

/** npm gives every file the same time and sorts them, so equal contents make equal archives. */
async function pack(folder: string, target: string): Promise<Omit<Package, 'folder'>> {
  const { stdout } = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', target], {
    cwd: folder,
    maxBuffer: 64 * 1024 * 1024,
  })
  const packed = JSON.parse(stdout) as [{ filename: string; entryCount: number; size: number }]
  const [{ filename, entryCount, size }] = packed
  return { tarball: join(target, filename), files: entryCount, bytes: size }
}
