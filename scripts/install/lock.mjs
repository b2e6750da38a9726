// One installation at a time: two `npm ci` in one folder destroy one another.
import { createHash, randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const pollMs = 250
const longestInstallMs = 30 * 60_000 // after that the owner's process id may well belong to somebody else

/**
 * Runs `work` while no other process does so for the same project. `work` is handed the file that names the owners:
 * an npm that may outlive us adds its process id, and the lock holds until the last of them is gone.
 */
export async function withInstallLock(root, say, work) {
  const lock = lockOf(root)
  let hasWaited = false
  while (!take(lock)) {
    if (bury(lock)) continue
    if (!hasWaited) say('waiting for another run that is installing')
    hasWaited = true
    await sleep(pollMs)
  }
  removeAtExit(lock)
  await work(join(lock, 'owners'))
}

/** In the temporary folder, because npm ci empties node_modules, and because process ids mean something there. */
function lockOf(root) {
  const project = createHash('sha256').update(root).digest('hex').slice(0, 16)
  return join(tmpdir(), `gatehouse-install-${userInfo().uid}-${project}`)
}

/** A folder that already names its owner is moved into place: that either works or finds the place taken. */
function take(lock) {
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
 * Clears away the lock of owners that died. The grave is named after them and stays filled until the end,
 * so a second process that saw the same dead owners cannot bury the lock that the first has taken since.
 */
function bury(lock) {
  const owners = join(lock, 'owners')
  try {
    const [id, ...pids] = readFileSync(owners, 'utf8').split(' ')
    if (pids.some(isAlive) && Date.now() - statSync(owners).mtimeMs < longestInstallMs) return false
    const grave = `${lock}-${id}`
    renameSync(lock, grave)
    removeAtExit(grave)
    return true
  } catch {
    return false // released, or buried by another process, in this very moment
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

/** In a container whose first process does not care for orphans, the dead stay in the table of processes. */
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
