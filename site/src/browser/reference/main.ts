// Adds search, section highlighting, live requests and copy buttons to the documentation. The pages are readable without
// this script.

import { markCurrentSection, showCurrentPage } from './current-section.ts';
import { enableSamples } from './samples.ts';
import { startSearch } from './search.ts';
import { enableForm, fillTokenField } from './try-it.ts';

startSearch();
showCurrentPage();
markCurrentSection();
const showToken = enableSamples();
showToken();
fillTokenField(showToken);
for (const form of document.querySelectorAll<HTMLFormElement>('form.try')) enableForm(form);
