import { quoted } from '../../kit/command.ts'
import type { Settings } from './draft.ts'

export const languages = ['curl', 'typescript', 'python'] as const

export type Language = (typeof languages)[number]

type Parts = { readonly url: string; readonly settings: Settings; readonly body: Readonly<Record<string, unknown>> }

const paths = { messages: '/v1/messages', responses: '/v1/responses', chat: '/v1/chat/completions' } as const
const calls = { messages: 'messages.create', responses: 'responses.create', chat: 'chat.completions.create' } as const

/** Code that an application runs to send the request, with the key of a project in `GATEHOUSE_KEY`. */
export const snippetOf = (language: Language, parts: Parts): string => writers[language](parts)

const writers: Readonly<Record<Language, (parts: Parts) => string>> = {
  curl: ({ url, settings, body }) =>
    [
      `curl ${url}${paths[settings.dialect]}`,
      '-H "authorization: Bearer $GATEHOUSE_KEY"',
      ...Object.entries(settings.headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
      `-H 'content-type: application/json'`,
      `-d ${quoted(JSON.stringify(body, null, 2))}`,
    ].join(' \\\n  '),

  typescript({ url, settings, body }) {
    const isAnthropic = settings.dialect === 'messages'
    const options = [`baseURL: '${isAnthropic ? url : `${url}/v1`}'`, 'apiKey: process.env.GATEHOUSE_KEY']
    const result = settings.stream ? 'stream' : 'answer'
    const show = settings.stream ? 'for await (const event of stream) console.log(event)' : 'console.log(answer)'
    return [
      isAnthropic ? `import Anthropic from '@anthropic-ai/sdk'` : `import OpenAI from 'openai'`,
      '',
      `const client = new ${isAnthropic ? 'Anthropic' : 'OpenAI'}({ ${options.join(', ')}${headerOption(settings)} })`,
      `const ${result} = await client.${calls[settings.dialect]}(${JSON.stringify(body, null, 2)})`,
      show,
    ].join('\n')
  },

  python({ url, settings, body }) {
    const isAnthropic = settings.dialect === 'messages'
    const vendor = isAnthropic ? ['anthropic', 'Anthropic'] : ['openai', 'OpenAI']
    const headers =
      Object.keys(settings.headers).length === 0 ? '' : `, default_headers=${python(settings.headers, '')}`
    const options = `base_url="${isAnthropic ? url : `${url}/v1`}", api_key=os.environ["GATEHOUSE_KEY"]${headers}`
    const fields = Object.entries(body).map(([name, value]) => `    ${name}=${python(value, '    ')},`)
    const result = settings.stream ? 'stream' : 'answer'
    return [
      'import os',
      `from ${vendor[0]} import ${vendor[1]}`,
      '',
      `client = ${vendor[1]}(${options})`,
      `${result} = client.${calls[settings.dialect]}(`,
      ...fields,
      ')',
      ...(settings.stream ? ['for event in stream:', '    print(event)'] : ['print(answer)']),
    ].join('\n')
  },
}

const headerOption = ({ headers }: Settings): string =>
  Object.keys(headers).length === 0 ? '' : `, defaultHeaders: ${JSON.stringify(headers)}`

/** A JSON value as a literal of Python. */
function python(value: unknown, indent: string): string {
  const deeper = `${indent}    `
  if (value === true) return 'True'
  if (value === false) return 'False'
  if (value === null || value === undefined) return 'None'
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]'
    return `[\n${value.map((item) => `${deeper}${python(item, deeper)},\n`).join('')}${indent}]`
  }
  if (typeof value !== 'object') return JSON.stringify(value)
  const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}: ${python(member, deeper)}`)
  return `{${members.join(', ')}}`
}
