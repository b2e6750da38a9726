import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import type { Address, Client } from './client.ts'
import { chatClients } from './drivers/chat.ts'
import { messagesClients } from './drivers/messages.ts'
import { responsesClients } from './drivers/responses.ts'
import { chatToolRunners, messagesToolRunners } from './drivers/tool-runner.ts'

const openai = ({ url, apiKey }: Address): OpenAI => new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 })
const anthropic = ({ url, apiKey }: Address): Anthropic => new Anthropic({ baseURL: url, apiKey, maxRetries: 0 })

/** The official clients in the versions of the project's own dependencies. */
export const newestClients: readonly Client[] = [
  ...messagesClients('Anthropic', anthropic),
  ...responsesClients('OpenAI', openai),
  ...chatClients('OpenAI', openai),
]

export const newestToolRunners: readonly Client[] = [
  ...messagesToolRunners('Anthropic', anthropic),
  ...chatToolRunners('OpenAI', openai),
]
