// Samples for Java 11 and later. Java's standard library has no JSON parser, so the samples print whole pages and follow the Link
// header.

import { POSITION_FILE, printUrl, type SampleLanguage, type SampleRequest } from './sample-code.ts';

export const java: SampleLanguage = {
  lang: 'Java',
  label: 'Java',
  list: (request) => `${IMPORTS}
${MAIN}
    var url = "${printUrl(request)}";
    while (url != null) {
${ask(request)}
      System.out.println(response.body()); // parse this page with the JSON library of your choice
      url = ${NEXT};
    }
  }
}`,
  poll: (request) => `${IMPORTS}
import java.nio.file.Files;
import java.nio.file.Path;
${MAIN}
    var kept = Path.of("${POSITION_FILE}");
    var url = "${printUrl(request)}";
    // The first run has no file and fetches all transactions.
    if (Files.exists(kept)) url += "?updatedAtGreaterThan=" + Files.readString(kept);
    String complete = null;
    while (url != null) {
${ask(request)}
      System.out.println(response.body()); // store each transaction under its id
      var through = response.headers().firstValue("Complete-Through").orElseThrow();
      if (complete == null || through.compareTo(complete) < 0) complete = through;
      url = ${NEXT};
    }
    // Save the position last, once everything before it has been stored.
    Files.writeString(kept, complete);
  }
}`,
};

const IMPORTS = `import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;`;

const MAIN = `
public class Sample {
  public static void main(String[] arguments) throws Exception {
    var client = HttpClient.newHttpClient();`;

/** The header is `<URL>; rel="next"` while there are more pages. */
const NEXT = `response.headers().firstValue("Link").map(link -> link.replaceAll("^<|>.*", "")).orElse(null)`;

function ask({ tokenVariable }: SampleRequest): string {
  return `      var request = HttpRequest.newBuilder(URI.create(url))
          .header("Authorization", "Bearer " + System.getenv("${tokenVariable}")).build();
      var response = client.send(request, BodyHandlers.ofString());
      if (response.statusCode() != 200) throw new RuntimeException(response.body());`;
}
