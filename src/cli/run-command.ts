import { connect, type Connection } from '../app/connect.ts'
import type { CommandContext } from './command.ts'

/** The result of a command. */
export type Result = {
  /** The response of the API, printed with `--json`. */
  readonly answer: unknown
  /** The same for people. */
  readonly text: string
  readonly remarks?: readonly string[]
  /** The exit code is then 1. */
  readonly isFailed?: boolean
}

export type Work = (connection: Connection) => Promise<Result>

type CommonValues = { readonly json?: boolean | undefined; readonly org?: string | undefined }

/** Connects to the service that the configuration names, runs the work for the organization of `--org`, and prints. */
export async function runOnServer(
  { config, say, remark }: CommandContext,
  { json, org }: CommonValues,
  work: Work,
): Promise<number> {
  await using connection = await connect(config())
  const client = connection.client.inOrganization(org)
  const { answer, text, remarks = [], isFailed = false } = await work({ ...connection, client })
  for (const each of remarks) remark(each)
  say(json ? JSON.stringify(answer, null, 2) : text)
  return isFailed ? 1 : 0
}
