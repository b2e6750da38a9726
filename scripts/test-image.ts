// What `npm run test:image` runs: builds the image with Docker or Podman, starts it with the command of the guide, and checks it.
// Without either, it says so and does nothing. Further arguments go to the build, such as `--build-arg RUNTIME_IMAGE=…`.
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import projectFile from '../package.json' with { type: 'json' }
import { dockerRunIn } from './image/guide.ts'

const log = (line: string): void => void process.stderr.write(`gatehouse: ${line}\n`)
const name = `gatehouse-test-${process.pid}`
const longestStartSeconds = 60

process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
  log(error instanceof Error ? error.message : String(error))
  return 1
})

async function main(buildArguments: readonly string[]): Promise<number> {
  const program = ['docker', 'podman'].find((each) => problemOf(each) === undefined)
  if (program === undefined) {
    for (const each of ['docker', 'podman']) log(`not run with ${each}: ${problemOf(each)}`)
    return 0
  }
  const call = (...args: readonly string[]): string => execFileSync(program, args, { encoding: 'utf8' }).trim()
  build(program, buildArguments)
  const megabytes = Number(call('image', 'inspect', '--format', '{{.Size}}', name)) / 1e6
  try {
    call(...runArguments())
    await check(call)
  } finally {
    for (const part of ['container', 'volume', 'image']) spawnSync(program, [part, 'rm', '--force', name])
  }
  log(`the image works with ${program}; it has ${megabytes.toFixed(0)} MB`)
  return 0
}

/** Why this program cannot run containers; undefined if it can. */
function problemOf(program: string): string | undefined {
  const { error, status, stderr } = spawnSync(program, ['info'], { encoding: 'utf8' })
  return error?.message ?? (status === 0 ? undefined : stderr.trim().split('\n').at(-1))
}

function build(program: string, more: readonly string[]): void {
  const args = ['build', '--file', 'deploy/Dockerfile', '--tag', name, '--build-arg', `VERSION=${projectFile.version}`]
  execFileSync(program, [...args, ...more, '.'], { stdio: 'inherit' })
}

/** The command of the guide, with another name, volume and image, and on any free port. */
function runArguments(): string[] {
  const [, ...words] = dockerRunIn(readFileSync('docs/guide/deploy.md', 'utf8'))
  const replaced: Record<string, string> = {
    gatehouse: name,
    'gatehouse-data:/data': `${name}:/data`,
    '127.0.0.1:8080:8080': '127.0.0.1::8080',
    'unless-stopped': 'no',
  }
  return words.map((word) => replaced[word] ?? word)
}

async function check(call: (...args: readonly string[]) => string): Promise<void> {
  for (let second = 1; !isReady(call); second++) {
    if (second === longestStartSeconds) throw new Error(`The container is not ready:\n${call('logs', name)}`)
    await sleep(1000)
  }
  const url = `http://${call('port', name, '8080/tcp').split('\n')[0]}`
  for (const path of ['/health/ready', '/console/']) {
    const { status } = await fetch(url + path)
    if (status !== 200) throw new Error(`${path} answers with ${status}.`)
  }
  call('exec', name, 'gatehouse', 'console', 'link')
  call('stop', name)
  const code = call('inspect', '--format', '{{.State.ExitCode}}', name)
  if (code !== '0') throw new Error(`The server ended with ${code}:\n${call('logs', name)}`)
}

function isReady(call: (...args: readonly string[]) => string): boolean {
  try {
    return call('exec', name, 'gatehouse', 'health') === 'ready'
  } catch {
    return false
  }
}
