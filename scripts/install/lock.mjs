// Allows one installation at a time, because two concurrent `npm ci` in one folder corrupt each other.
import { createHash, randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const pollMs = 250
const longestInstallMs = 30 * 60_000 // after that the owner's process id may belong to another process

/**
 * Runs `work` while no other process does so for the same project. `work` receives the path of the file with the owners' process
 * ids. An npm process that may outlive this one adds its own id, and the lock holds until all owners have ended.
 */
export async function withInstallLock(root, log, work) {
  const lock = lockOf(root)
  let hasWaited = false
  while (!acquire(lock)) {
    if (removeStale(lock)) continue
    if (!hasWaited) log('waiting for another run that is installing')
    hasWaited = true
    await sleep(pollMs)
  }
  removeAtExit(lock)
  await work(join(lock, 'owners'))
}

/** In the temporary folder, because npm ci empties node_modules, and because process ids are only valid on this machine. */
function lockOf(root) {
  const project = createHash('sha256').update(root).digest('hex').slice(0, 16)
  return join(tmpdir(), `gatehouse-install-${userInfo().uid}-${project}`)
}

/** Renames a folder that already names its owner to the lock's path. The rename is atomic, and fails if the lock is held. */
function acquire(lock) {
  const id = randomUUID()
  const prepared = `${lock}-${id}`
  mkdirSync(prepared)
  writeFileSync(join(prepared, 'owners'), `${id} ${process.pid}`)
  try {
    renameSync(prepared, lock)
    return true
  } catch {
    rmSync(prepared, { recursive: true })
    return false
  }
}

/**
 * Removes the lock of owners that have died, by renaming it after them. The renamed folder stays until this process exits, so a
 * second process that saw the same dead owners cannot remove the lock that this one acquires next.
 */
function removeStale(lock) {
  const owners = join(lock, 'owners')
  try {
    const [id, ...pids] = readFileSync(owners, 'utf8').split(' ')
    if (pids.some(isAlive) && Date.now() - statSync(owners).mtimeMs < longestInstallMs) return false
    const renamed = `${lock}-${id}`
    renameSync(lock, renamed)
    removeAtExit(renamed)
    return true
  } catch {
    return false // another process released or removed it meanwhile
  }
}

function isAlive(pid) {
  try {
    process.kill(Number(pid), 0)
    return !isZombie(pid)
  } catch (error) {
    return error.code === 'EPERM'
  }
}

/** In a container whose init process does not reap orphans, processes that have ended stay in the process table. */
function isZombie(pid) {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ')
  } catch {
    return false
  }
}

function removeAtExit(folder) {
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
}
