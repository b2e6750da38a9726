import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { TestServer } from '../test/ready.ts'

/** A third-party receiver of the audit log, or a tester of the API or the chart. */
export type Peer = {
  readonly name: string
  /** What it tests: sinks, the API, or the chart. */
  readonly tests: string
  /** The environment variable with its address, or with the path of the program. */
  readonly variable: string
  /** Downloads and builds it if necessary. Throws the reason if that is not possible. */
  prepare(): void
  start(): Promise<TestServer>
}

/** The cache folder for downloads and builds. */
export const peersFolder = fileURLToPath(new URL('../../build/peers/', import.meta.url))

const longestMs = 40 * 60_000

/** Runs a build command and returns its output. Errors are shown only if it fails. */
export function build(program: string, args: readonly string[], options: { cwd?: string; env?: object } = {}): string {
  mkdirSync(peersFolder, { recursive: true })
  const { error, status, stderr, stdout } = spawnSync(program, args, {
    cwd: options.cwd ?? peersFolder,
    env: { ...process.env, ...options.env },
    encoding: 'utf8',
    timeout: longestMs,
  })
  if (error) throw new Error(`${program} cannot be run (${error.message})`)
  if (status !== 0) throw new Error(`${program} ${args[0] ?? ''} failed: ${(stderr || stdout).trim().slice(-300)}`)
  return stdout
}
