import { after, describe } from 'node:test'
import { converseEverywhere } from './conversations.ts'
import { failEverywhere } from './failures.ts'
import { createPython, officialClients, withoutPython } from './python.ts'

describe('the official clients for Python', { skip: withoutPython('newest') }, () => {
  const python = createPython('newest', officialClients)
  after(() => python[Symbol.asyncDispose]())
  converseEverywhere(python.clients)
  failEverywhere(python.clients)
})
