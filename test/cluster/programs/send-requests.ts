// A client in its own process: sends the same request many times in parallel and prints the results.
import { adminOf } from '../../support/administration.ts'

const [url = '', key = '', request = '{}'] = process.argv.slice(2)
const { method, path, body, headers, times } = JSON.parse(request) as {
  method: string
  path: string
  body: unknown
  headers: Record<string, string>
  times: number
}
const admin = adminOf(url, key)
const answers = await Promise.all(Array.from({ length: times }, () => admin.send(method, path, { body, headers })))
const lines = answers.map((answer) => ({
  status: answer.status,
  code: (answer.body['error'] as { code?: string } | undefined)?.code,
  replayed: answer.headers.get('idempotent-replayed') === 'true',
  revision: answer.body['revision'],
}))
process.stdout.write(`${JSON.stringify(lines)}\n`)
