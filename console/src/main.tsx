import { QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import './style/tokens.css'
import './style/base.css'
import './style/tones.css'
import { signIn } from './api/client.ts'
import { App } from './shell/app.tsx'
import { queryClient } from './session/query-client.ts'
import { applyPreferences } from './session/preferences.ts'
import { words } from './words/en.ts'

applyPreferences()
const linkError = await startFromLink()
const root = document.getElementById('root')
if (root === null) throw new Error('index.html has no #root')
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <App linkError={linkError} />
    </QueryClientProvider>
  </StrictMode>,
)

/**
 * Signs in with the token of a one-time link, `#start=…`. It stands in the fragment, which browsers send to no server, and
 * leaves the address before anything else is loaded. `#refused=…`: why a sign-in through the identity provider failed.
 */
async function startFromLink(): Promise<string | undefined> {
  const fragment = new URLSearchParams(location.hash.slice(1))
  const [link, refused] = [fragment.get('start'), fragment.get('refused')]
  if (link === null && refused === null) return undefined
  history.replaceState(null, '', location.pathname + location.search)
  if (link === null) return refusalText(refused ?? '')
  return signIn({ link }).then(
    () => undefined,
    () => words.signIn.linkFailed,
  )
}

function refusalText(reason: string): string {
  const { refused } = words.signIn
  return Object.entries(refused).find(([name]) => name === reason)?.[1] ?? refused.failed
}
