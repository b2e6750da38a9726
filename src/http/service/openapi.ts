import { describeApi } from '../openapi.ts'
import type { Family, Route } from '../route.ts'

export function openapiRoutes(families: () => readonly Family[], version: string): Route[] {
  let description: object | undefined
  return [
    {
      method: 'GET',
      path: '/openapi.json',
      summary: 'This interface as OpenAPI 3.1',
      credential: 'none',
      answers: { 200: { description: 'The description.' } },
      handle: async () => (description ??= describeApi(families(), version)),
    },
  ]
}
