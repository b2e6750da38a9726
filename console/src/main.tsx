import { QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import './style/tokens.css'
import './style/base.css'
import './style/tones.css'
import { signIn } from './api/client.ts'
import { App } from './app/app.tsx'
import { queryClient } from './app/query-client.ts'
import { applyPreferences } from './app/preferences.ts'
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
 * leaves the address before anything else is loaded.
 */
async function startFromLink(): Promise<string | undefined> {
  const link = new URLSearchParams(location.hash.slice(1)).get('start')
  if (link === null) return undefined
  history.replaceState(null, '', location.pathname + location.search)
  return signIn({ link }).then(
    () => undefined,
    () => words.signIn.linkFailed,
  )
}
