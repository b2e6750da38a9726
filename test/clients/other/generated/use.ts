// Compiled against the types that openapi-typescript generates into `api.ts` beside it, and run with a gateway's address,
// an API key and an administrator key. Prints the text of a message and the names of the policies.
import createClient from 'openapi-fetch'
import type { components, paths } from './api.ts'

type Schemas = components['schemas']

const [baseUrl = '', apiKey = '', adminKey = ''] = process.argv.slice(2)
const clientFor = (key: string) =>
  createClient<paths, 'application/json'>({ baseUrl, headers: { authorization: `Bearer ${key}` } })

const messages: Schemas['InputMessage'][] = [{ role: 'user', content: 'Hello' }]
const sent = await clientFor(apiKey).POST('/v1/messages', {
  body: { model: 'gatehouse-echo', max_tokens: 50, messages },
})
const message: Schemas['Message'] = sent.data ?? failed(sent.error)

const admin = clientFor(adminKey)
const created = await admin.POST('/v1/organization/policies', { body: { name: 'No names', rule: 'No names.' } })
const policy: Schemas['Policy'] = created.data ?? failed(created.error)
const listed = await admin.GET('/v1/organization/policies', { params: { query: { limit: 5 } } })
const policies: Schemas['PolicySummary'][] = (listed.data ?? failed(listed.error)).data

const result = { content: message.content, created: policy.name, names: policies.map(({ name }) => name) }
process.stdout.write(JSON.stringify(result))

function failed(error: unknown): never {
  throw new Error(JSON.stringify(error))
}
