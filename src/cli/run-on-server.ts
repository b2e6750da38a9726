import { connect, type Connection } from '../app/connect.ts'
import type { CommandContext } from './command.ts'

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
}

export type Work = (connection: Connection) => Promise<Result>

type CommonValues = {
  readonly json?: boolean | undefined
  readonly org?: string | undefined
  /** Whether the command creates the database if there is none. */
  readonly mayCreate?: boolean
}

/** Connects to the service that the configuration names, runs the work for the organization of `--org`, and prints. */
export async function runOnServer(
  { config, print, printData, printError }: CommandContext,
  values: CommonValues,
  work: Work,
): Promise<number> {
  await using connection = await connect(config(), values)
  const client = connection.client.inOrganization(values.org)
  const { json, text, isData = false, warnings = [], isFailed = false } = await work({ ...connection, client })
  for (const warning of warnings) printError(values.json ? JSON.stringify({ warning }) : warning)
  const write = isData ? printData : print
  write(values.json ? JSON.stringify(json, null, 2) : text)
  return isFailed ? 1 : 0
}
