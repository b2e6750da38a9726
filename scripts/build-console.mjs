// Builds the web console if its sources changed since the last build. Runs before `npm start` and `npm test`, after
// `ensure-installed.mjs`. If the build fails, the reason is written where the server finds it, and the server starts without
// the console. With `--strict` a failure also ends this script with 1. Each build has a folder of its own, which replaces
// `console/dist` when it is complete: builds may run at the same time, and a server never reads half of one.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const source = join(root, 'console')
const target = join(source, 'dist')
const kB = 1_000
const attempts = 100

/** In Brotli: what the first page loads, and everything together. */
const budgets = { first: 180 * kB, all: 450 * kB }

const byName = (a, b) => (a < b ? -1 : 1)
const sum = (numbers) => [...numbers].reduce((total, each) => total + each, 0)
const log = (line) => process.stderr.write(`gatehouse: ${line}\n`)

// A package has the built console and neither its sources nor Vite.
if (existsSync(join(source, 'vite.config.ts'))) await buildIfChanged()

async function buildIfChanged() {
  const digest = digestOf(sourceFiles())
  if (digest === stampOf()?.digest) return
  const folder = `${target}-${process.pid}`
  try {
    log('building the console; this happens once, and again when its sources change')
    await build(folder, digest)
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder)
    writeFileSync(join(folder, 'problem.txt'), String(error?.message ?? error))
    log(`the console could not be built, and is not served: ${error?.message ?? error}`)
    if (process.argv.includes('--strict')) process.exitCode = 1
  }
  // Another build of the same sources may have been faster.
  if (digest === stampOf()?.digest) rmSync(folder, { recursive: true })
  else replaceTarget(folder)
}

async function build(folder, digest) {
  const vite = await import('vite')
  await vite.build({ root: source, logLevel: 'error', build: { outDir: folder, emptyOutDir: true } })
  const assets = readdirSync(join(folder, 'assets')).sort(byName)
  const sizes = new Map(assets.map((name) => [name, compress(join(folder, 'assets', name))]))
  checkBudgets(folder, sizes)
  writeFileSync(join(folder, 'stamp.json'), `${JSON.stringify({ digest, assets }, null, 2)}\n`)
}

/** A folder with files cannot be renamed over, so the earlier build is renamed first. Another build may do so in between. */
function replaceTarget(folder) {
  const earlier = `${folder}-earlier`
  for (let attempt = 1; ; attempt++) {
    try {
      if (existsSync(target)) renameSync(target, earlier)
      renameSync(folder, target)
      break
    } catch (error) {
      if (attempt === attempts || !['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(error?.code)) throw error
    } finally {
      rmSync(earlier, { recursive: true, force: true })
    }
  }
}

/** Writes the compressed files beside a file, unless they would be longer. Returns the size in Brotli. */
function compress(path) {
  const plain = readFileSync(path)
  const brotli = brotliCompressSync(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } })
  const gzip = gzipSync(plain, { level: 9 })
  if (brotli.length < plain.length) writeFileSync(`${path}.br`, brotli)
  if (gzip.length < plain.length) writeFileSync(`${path}.gz`, gzip)
  return brotli.length
}

function checkBudgets(folder, sizes) {
  const all = sum(sizes.values())
  const first = sum([...firstLoad(folder)].map((file) => sizes.get(file.slice('assets/'.length)) ?? 0))
  const measured = `the first page loads ${Math.round(first / kB)} kB, all is ${Math.round(all / kB)} kB in Brotli`
  if (first > budgets.first || all > budgets.all)
    throw new Error(`${measured}; at most ${budgets.first / kB} and ${budgets.all / kB} kB are allowed`)
  log(`built the console: ${measured}`)
}

/** The files that the largest page needs before it is shown: the entry, that page, and what both import. */
function firstLoad(folder) {
  const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'))
  const entry = Object.values(manifest).find(({ isEntry }) => isEntry)
  const files = new Set()
  const add = ({ file, css = [], imports = [] }) => {
    for (const each of [file, ...css]) files.add(each)
    for (const name of imports) if (!files.has(manifest[name].file)) add(manifest[name])
  }
  add(entry)
  for (const name of entry.dynamicImports ?? []) if (name.endsWith('pages/overview/page.tsx')) add(manifest[name])
  return files
}

function stampOf() {
  try {
    return JSON.parse(readFileSync(join(target, 'stamp.json'), 'utf8'))
  } catch {
    return undefined
  }
}

/** The sources of the console, the versions of its packages, and this script. */
function sourceFiles() {
  const within = (folder) =>
    readdirSync(folder)
      .filter((name) => !name.startsWith('dist') && name !== 'node_modules' && !name.endsWith('.test.ts'))
      .map((name) => join(folder, name))
      .flatMap((path) => (statSync(path).isDirectory() ? within(path) : [path]))
  return [...within(source), join(root, 'package-lock.json'), fileURLToPath(import.meta.url)].sort(byName)
}

function digestOf(paths) {
  const hash = createHash('sha256')
  for (const path of paths)
    hash
      .update(`${relative(root, path)}\0`)
      .update(readFileSync(path))
      .update('\0')
  return hash.digest('hex')
}
