import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A fake npm: `ci` and `rebuild` fill node_modules, and each call is appended to the file `calls`. */
const fakeNpm = `#!/bin/sh
echo "$1" >> calls
echo "$*" >> commands
if [ -p hold ]; then read -r _ < hold; fi
if [ -f offline ]; then echo "npm error code ENOTFOUND" >&2; exit 1; fi
mkdir -p node_modules/.bin
if [ -f wrong-platform ]; then printf '#!/bin/sh\\necho "wrong kind of machine" >&2; exit 127\\n' > node_modules/.bin/node; chmod +x node_modules/.bin/node
elif [ "$1" = rebuild ] || [ ! -f skip-scripts ]; then ln -sf /bin/true node_modules/.bin/node; fi
[ "$1" = rebuild ] || cp package-lock.json node_modules/.package-lock.json
`

/** A small project that is not installed yet, with a fake npm. */
export function openFreshClone() {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-fresh-clone-'))
  for (const name of ['scripts', 'tools', 'tmp']) mkdirSync(join(folder, name))
  const scripts = join(import.meta.dirname, '../../scripts')
  for (const part of ['ensure-installed.mjs', 'install']) {
    cpSync(join(scripts, part), join(folder, 'scripts', part), { recursive: true })
  }
  writeFileSync(join(folder, 'tools', 'npm'), fakeNpm)
  chmodSync(join(folder, 'tools', 'npm'), 0o755)
  const pathOf = (name: string): string => join(folder, name)
  const lock = (packages: Record<string, object>): void => {
    writeFileSync(pathOf('package-lock.json'), JSON.stringify({ packages }))
  }
  lock({ '': {}, 'node_modules/left': { version: '1.0.0' } })
  return {
    pathOf,
    lock,
    /** The npm commands that were run so far, with their arguments. */
    commands: () => readFileSync(pathOf('commands'), 'utf8').trim().split('\n'),
    /** The same without. */
    calls: () => readFileSync(pathOf('calls'), 'utf8').trim().split('\n'),
    start: (...args: readonly string[]) => startIn(folder, args),
    /** Process ids of the lock holders. */
    lockOwners: () => lockOwnersIn(pathOf('tmp')),
    holdNpm: () => holdNpm(pathOf('hold')),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** Makes npm block when it is called, until it is released. */
function holdNpm(pipe: string) {
  execFileSync('mkfifo', [pipe])
  const isReached = open(pipe, 'w') // opens once npm has opened the other end
  return {
    isReached,
    async release(): Promise<void> {
      rmSync(pipe)
      const end = await isReached
      await end.write('\n')
      await end.close()
    },
    async abandon(): Promise<void> {
      rmSync(pipe)
      await (await isReached).close()
    },
  }
}

function lockOwnersIn(folder: string): number[] {
  const [id, ...pids] = readFileSync(join(folder, readdirSync(folder)[0] ?? '', 'owners'), 'utf8').split(' ')
  if (id === undefined) throw new Error('the lock has no owner')
  return pids.map(Number)
}

/** One run of the script. */
function startIn(folder: string, args: readonly string[]) {
  const child = spawn(process.execPath, ['scripts/ensure-installed.mjs', ...args], {
    cwd: folder,
    env: { PATH: `${join(folder, 'tools')}:/usr/bin:/bin`, TMPDIR: join(folder, 'tmp') },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let output = ''
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (output += chunk))
  return {
    ended: once(child, 'close').then(([status]: unknown[]) => ({ status, output })),
    async hasPrinted(word: string): Promise<void> {
      while (!output.includes(word)) await once(child.stderr, 'data')
    },
    kill: () => child.kill('SIGKILL'),
  }
}
