import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { TestServer } from '../test/ready.ts'

/** A real receiver of the audit log, made by somebody else. */
export type Peer = {
  readonly name: string
  /** The sinks that it shows to be right. */
  readonly shows: string
  /** Where the suites find its address. */
  readonly variable: string
  /** Fetches and builds it where that was not done before. Throws, with the reason, where it cannot be had. */
  prepare(): void
  start(): Promise<TestServer>
}

/** What is fetched and built for peers is kept here. */
export const peersFolder = fileURLToPath(new URL('../../build/peers/', import.meta.url))

const longestMs = 40 * 60_000

/** Runs a program of somebody else's build; its words are shown only where it fails. */
export function build(program: string, args: readonly string[], options: { cwd?: string; env?: object } = {}): void {
  mkdirSync(peersFolder, { recursive: true })
  const { error, status, stderr, stdout } = spawnSync(program, args, {
    cwd: options.cwd ?? peersFolder,
    env: { ...process.env, ...options.env },
    encoding: 'utf8',
    timeout: longestMs,
  })
  if (error) throw new Error(`${program} cannot be run (${error.message})`)
  if (status !== 0) throw new Error(`${program} ${args[0] ?? ''} failed: ${(stderr || stdout).trim().slice(-300)}`)
}
