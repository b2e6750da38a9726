// What the builds of the console and of the documentation have in common. They run before `npm start`, on any Node from
// version 20, so this must work without dependencies and without TypeScript.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'

const attempts = 100

export const byName = (a, b) => (a < b ? -1 : 1)
export const log = (line) => process.stderr.write(`gatehouse: ${line}\n`)

/**
 * Builds if the sources changed since the last build. If the build fails, the reason is written where the server finds it, and the
 * server starts without what was to be built. With `--strict` a failure also ends the script with 1. Each build has a folder of
 * its own, which replaces `target` when it is complete: builds may run at the same time, and a server never reads half of one.
 * `build` returns what `stamp.json` lists beside the digest.
 */
export async function buildIfChanged({ root, target, name, sources, build }) {
  const digest = digestOf(root, sources)
  if (digest === stampOf(target)?.digest) return
  const folder = `${target}-${process.pid}`
  try {
    log(`building ${name}; this happens once, and again when its sources change`)
    const listed = await build(folder)
    writeFileSync(join(folder, 'stamp.json'), `${JSON.stringify({ digest, ...listed }, null, 2)}\n`)
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder)
    writeFileSync(join(folder, 'problem.txt'), String(error?.message ?? error))
    log(`${name} could not be built, and is not served: ${error?.message ?? error}`)
    if (process.argv.includes('--strict')) process.exitCode = 1
  }
  // Another build of the same sources may have been faster.
  if (digest === stampOf(target)?.digest) rmSync(folder, { recursive: true })
  else replaceTarget(target, folder)
}

/** The files in a folder and in those below it. */
export const filesWithin = (folder, isSource) =>
  readdirSync(folder)
    .filter(isSource)
    .map((name) => join(folder, name))
    .flatMap((path) => (statSync(path).isDirectory() ? filesWithin(path, isSource) : [path]))

/** A folder with files cannot be renamed over, so the earlier build is renamed first. Another build may do so in between. */
function replaceTarget(target, folder) {
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

function stampOf(target) {
  try {
    return JSON.parse(readFileSync(join(target, 'stamp.json'), 'utf8'))
  } catch {
    return undefined
  }
}

function digestOf(root, sources) {
  const hash = createHash('sha256')
  for (const path of sources.toSorted(byName))
    hash
      .update(`${relative(root, path)}\0`)
      .update(readFileSync(path))
      .update('\0')
  return hash.digest('hex')
}
