mod entries; // webhooks of the configuration that come and go with the chart
mod pods; // pods whose namespace or own settings are narrow
mod port; // what is sent to the port of admission that is no review
mod reinvoked; // another webhook beside ours
