import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import type { Address } from '../client.ts'
import { chatClients } from '../drivers/chat.ts'
import { messagesClients } from '../drivers/messages.ts'
import { responsesClients } from '../drivers/responses.ts'
import { chatToolRunners, messagesToolRunners } from '../drivers/tool-runner.ts'
import { newestClients, newestToolRunners } from '../newest.ts'
import { converseEverywhere } from './conversations.ts'
import { failEverywhere } from './failures.ts'

// The members used here have the same types in both major versions, but TypeScript compares private members of classes nominally.
const openai = ({ url, apiKey }: Address) => new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 }) as never
const anthropic = ({ url, apiKey }: Address) => new Anthropic({ baseURL: url, apiKey, maxRetries: 0 }) as never

const clients = [
  ...newestClients,
  ...newestToolRunners,
  ...messagesClients('Anthropic 0.x', anthropic),
  ...responsesClients('OpenAI 6', openai),
  ...chatClients('OpenAI 6', openai),
  ...messagesToolRunners('Anthropic 0.x', anthropic),
  ...chatToolRunners('OpenAI 6', openai),
]

converseEverywhere(clients)
failEverywhere(clients)
