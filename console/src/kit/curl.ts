import { serverUrl } from '../api/client.ts'
import { quoted } from './command.ts'

/** A call of the API. */
export type Call = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Of the API, such as `/v1/organization/policies`. */
  readonly path: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** The call for a POSIX shell. */
export function curlOf({ method, path, body, headers = {} }: Call): string {
  const lines = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${serverUrl}${path}`,
    `-H "authorization: Bearer $GATEHOUSE_ADMIN_KEY"`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`-H 'content-type: application/json'`, `-d ${quoted(JSON.stringify(body))}`]),
  ]
  return lines.join(' \\\n  ')
}
