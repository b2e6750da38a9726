import type { Credential, Route } from '../../src/http/route.ts'
import { baseUrlMark } from '../../src/http/docs/marks.ts'
import { examplePath, type RouteExample } from './example.ts'
import { literal, notations } from './literal.ts'

export type Snippet = { readonly label: string; readonly language: string; readonly code: string }

/** The variable in which the examples expect the key. */
const keyVariables: Readonly<Record<Credential, string | undefined>> = {
  none: undefined,
  api_key: 'GATEHOUSE_KEY',
  api_key_or_free: 'GATEHOUSE_KEY',
  gateway: 'GATEHOUSE_KEY',
  admin_key: 'GATEHOUSE_ADMIN_KEY',
  operator: undefined,
}

/** The example request in curl, Node and Python. Inference endpoints use the SDK of the vendor that the dialect comes from. */
export function snippetsOf(route: Route, example: RouteExample): readonly Snippet[] {
  return [
    { label: 'curl', language: 'sh', code: curl(route, example) },
    { label: 'Node', language: 'js', code: route.sdk ? nodeSdk(route.sdk, example) : nodeFetch(route, example) },
    {
      label: 'Python',
      language: 'python',
      code: route.sdk ? pythonSdk(route.sdk, example) : pythonRequests(route, example),
    },
  ]
}

type Endpoint = Pick<Route, 'method' | 'path' | 'credential' | 'exampleCredential'>

const keyOf = ({ credential, exampleCredential = credential }: Endpoint): string | undefined =>
  keyVariables[exampleCredential]

const urlOf = (route: Endpoint, example: RouteExample): string => baseUrlMark + examplePath(route, example)

function curl(route: Endpoint, example: RouteExample): string {
  const key = keyOf(route)
  const url = urlOf(route, example)
  const impliedMethod = example.body === undefined ? 'GET' : 'POST'
  const options = [
    ...(route.method === impliedMethod ? [] : [`-X ${route.method}`]),
    ...(key === undefined ? [] : [`-H "Authorization: Bearer $${key}"`]),
    ...(example.body === undefined
      ? []
      : ['-H "Content-Type: application/json"', `-d '${singleQuoted(literal(example.body, notations.json, '  '))}'`]),
  ]
  return [`curl ${url.includes('?') ? `"${url}"` : url}`, ...options].join(' \\\n  ')
}

const singleQuoted = (text: string): string => text.replaceAll("'", String.raw`'\''`)

function nodeFetch(route: Route, example: RouteExample): string {
  const key = keyOf(route)
  const headers = [
    ...(key === undefined ? [] : [`authorization: \`Bearer \${process.env.${key}}\``]),
    ...(example.body === undefined ? [] : ["'content-type': 'application/json'"]),
  ]
  const options = [
    ...(route.method === 'GET' ? [] : [`method: '${route.method}'`]),
    ...(headers.length === 0
      ? []
      : [headers.length === 1 ? `headers: { ${headers[0]} }` : `headers: {\n    ${headers.join(',\n    ')},\n  }`]),
    ...(example.body === undefined ? [] : [`body: JSON.stringify(${literal(example.body, notations.js, '  ')})`]),
  ]
  const given = options.length === 0 ? '' : `, {\n${options.map((option) => `  ${option},\n`).join('')}}`
  return `const response = await fetch('${urlOf(route, example)}'${given})\nconsole.log(response.status, await response.${readsJson(route) ? 'json' : 'text'}())`
}

function pythonRequests(route: Route, example: RouteExample): string {
  const key = keyOf(route)
  const values = [
    JSON.stringify(urlOf(route, example)),
    ...(key === undefined ? [] : [`headers={"Authorization": f"Bearer {os.environ['${key}']}"}`]),
    ...(example.body === undefined ? [] : [`json=${literal(example.body, notations.python, '    ')}`]),
  ]
  const imports = key === undefined ? 'import requests' : 'import os\nimport requests'
  const call = `requests.${route.method.toLowerCase()}(\n${values.map((value) => `    ${value},\n`).join('')})`
  const read = readsJson(route) ? 'response.json()' : 'response.text'
  return `${imports}\n\nresponse = ${call}\nprint(response.status_code, ${read})`
}

const readsJson = ({ answers }: Route): boolean =>
  Object.values(answers).every(({ contentType = 'application/json' }) => contentType === 'application/json')

type Sdk = NonNullable<Route['sdk']>

function nodeSdk({ vendor, method }: Sdk, example: RouteExample): string {
  const setUp = {
    anthropic: `import Anthropic from '@anthropic-ai/sdk'\n\nconst client = new Anthropic({\n  baseURL: '${baseUrlMark}',\n  apiKey: process.env.GATEHOUSE_KEY,\n})`,
    openai: `import OpenAI from 'openai'\n\nconst client = new OpenAI({\n  baseURL: '${baseUrlMark}/v1',\n  apiKey: process.env.GATEHOUSE_KEY,\n})`,
  }
  const values = [...Object.values(example.params), ...(example.body === undefined ? [] : [example.body])]
  const given = values.map((value) => literal(value, notations.js)).join(', ')
  return `${setUp[vendor]}\n\nconst answer = await client.${method}(${given})\nconsole.log(answer)`
}

function pythonSdk({ vendor, method }: Sdk, example: RouteExample): string {
  const setUp = {
    anthropic: `import os\nfrom anthropic import Anthropic\n\nclient = Anthropic(\n    base_url="${baseUrlMark}",\n    api_key=os.environ["GATEHOUSE_KEY"],\n)`,
    openai: `import os\nfrom openai import OpenAI\n\nclient = OpenAI(\n    base_url="${baseUrlMark}/v1",\n    api_key=os.environ["GATEHOUSE_KEY"],\n)`,
  }
  const snake = method.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  const named = Object.entries(Object(example.body)).map(
    ([name, value]) => `    ${name}=${literal(value, notations.python, '    ')},\n`,
  )
  const positional = Object.values(example.params).map((value) => literal(value, notations.python))
  const given = named.length === 0 ? positional.join(', ') : `\n${named.join('')}`
  return `${setUp[vendor]}\n\nanswer = client.${snake}(${given})\nprint(answer)`
}

const hello = { model: 'gatehouse-echo', messages: [{ role: 'user', content: 'Hello' }] }
const withBody = (body: object): RouteExample => ({ params: {}, query: {}, body, status: 200, answer: undefined })

/** The first request in the dialects of both vendors. */
export const firstRequests: readonly Snippet[] = [
  {
    label: 'Anthropic',
    language: 'js',
    code: nodeSdk({ vendor: 'anthropic', method: 'messages.create' }, withBody({ ...hello, max_tokens: 1024 })),
  },
  {
    label: 'OpenAI',
    language: 'js',
    code: nodeSdk(
      { vendor: 'openai', method: 'responses.create' },
      withBody({ model: 'gatehouse-echo', input: 'Hello' }),
    ),
  },
  {
    label: 'curl',
    language: 'sh',
    code: curl({ method: 'POST', path: '/v1/chat/completions', credential: 'api_key' }, withBody(hello)),
  },
]
