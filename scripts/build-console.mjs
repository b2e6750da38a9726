// Builds the web console if its sources changed since the last build. Runs before `npm start` and `npm test`, after
// `ensure-installed.mjs`. With `--strict` a build that fails ends this script with 1.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { buildIfChanged, byName, filesWithin, log } from './built-folder.mjs'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const source = join(root, 'console')
const target = join(source, 'dist')
const kB = 1_000

/** In Brotli: what the first page loads, and everything together. */
const budgets = { first: 180 * kB, all: 450 * kB }

const sum = (numbers) => [...numbers].reduce((total, each) => total + each, 0)

// A package has the built console and neither its sources nor Vite.
if (existsSync(join(source, 'vite.config.ts')))
  await buildIfChanged({ root, target, name: 'the console', sources: sourceFiles(), build })

async function build(folder) {
  const vite = await import('vite')
  await vite.build({ root: source, logLevel: 'error', build: { outDir: folder, emptyOutDir: true } })
  const assets = readdirSync(join(folder, 'assets')).sort(byName)
  const sizes = new Map(assets.map((name) => [name, compress(join(folder, 'assets', name))]))
  checkBudgets(folder, sizes)
  return { assets }
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

/** The sources of the console, the versions of its packages, and this script. */
function sourceFiles() {
  const isSource = (name) => !name.startsWith('dist') && name !== 'node_modules' && !name.endsWith('.test.ts')
  return [...filesWithin(source, isSource), join(root, 'package-lock.json'), fileURLToPath(import.meta.url)]
}
