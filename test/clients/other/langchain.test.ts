import { converseEverywhere } from './conversations.ts'
import { failEverywhere } from './failures.ts'
import { langchainClients } from './langchain.ts'

converseEverywhere(langchainClients)
failEverywhere(langchainClients)
