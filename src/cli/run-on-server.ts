import { createApiClient } from '../app/client/api-client.ts'
import { connect } from '../app/client/connect.ts'
import type { Connection } from '../app/client/in-process.ts'
import { networkTransport } from '../app/client/remote-server.ts'
import { systemClock } from '../base/clock.ts'
import { UsageError, type CommandContext } from './command.ts'
import { plainHttpWarning, remoteServerOf } from './remote.ts'

/** The result of a command. */
export type Result = {
  /** Printed with `--json`: the response of the API. */
  readonly json: unknown
  /** Printed without `--json`. */
  readonly text: string
  /** The text is for a file or a program, and printed unchanged. */
  readonly isData?: boolean
  /** Printed on standard error. */
  readonly warnings?: readonly string[]
  /** The exit code is then 1. */
  readonly isFailed?: boolean
  /** Of a command with exit codes of its own. */
  readonly exitCode?: number
}

export type Work = (connection: Connection) => Promise<Result>

type CommonValues = {
  readonly json?: boolean | undefined
  readonly org?: string | undefined
  /** Whether the command creates the database if there is none. */
  readonly mayCreate?: boolean
}

/** Connects to the service that the configuration names, runs the work for the organization of `--org`, and prints. */
export async function runOnServer(context: CommandContext, values: CommonValues, work: Work): Promise<number> {
  const { print, printData, printError } = context
  await using connection = await openConnection(context, values)
  const { json, text, isData = false, warnings = [], isFailed = false, exitCode } = await work(connection)
  for (const warning of warnings) printError(values.json ? JSON.stringify({ warning }) : warning)
  const write = isData ? printData : print
  write(values.json ? JSON.stringify(json, null, 2) : text)
  return exitCode ?? (isFailed ? 1 : 0)
}

/** The API for the organization of `--org`: of the server that `--url` names, or of the one that the configuration names. */
export async function openConnection(
  { config, env, printError }: CommandContext,
  values: CommonValues,
): Promise<Connection> {
  const remote = remoteServerOf(env)
  if (remote === undefined) {
    const connection = await connect(config(), values)
    return { ...connection, client: connection.client.inOrganization(values.org) }
  }
  if (values.org !== undefined)
    throw new UsageError('--org is not for --url: an administrator key belongs to one organization.')
  const warning = plainHttpWarning(remote)
  if (warning !== undefined) printError(values.json ? JSON.stringify({ warning }) : warning)
  return {
    client: createApiClient(networkTransport(remote)),
    clock: systemClock,
    migrationsApplied: 0,
    isRemote: true,
    async [Symbol.asyncDispose]() {},
  }
}
